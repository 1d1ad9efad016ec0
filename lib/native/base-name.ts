import { functionNames } from './function-names.js';

/** The name without its ABI version, as the driver's own cuGetProcAddress takes it. */
export const baseName = (name: string): string => name.replace(/_v\d+$/, '');

export const isFunctionName = (name: string): boolean =>
  functionNames.some((known) => known === name || baseName(known) === name);
