/** The package `yaml`, loaded when the first YAML is read or written: most commands do neither. */
import { createRequire } from 'node:module';
import type * as yaml from 'yaml';

const require = createRequire(import.meta.url);

export const yamlLibrary = (): typeof yaml => require('yaml') as typeof yaml;
