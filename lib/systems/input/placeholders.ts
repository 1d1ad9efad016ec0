/** Placeholders such as `{memoryBytes}` in the settings of a custom system. */
import { closest } from '../../errors/closest.js';
import { UsageError } from '../../errors/usage-error.js';

export const placeholders = [
  'memoryBytes',
  'memoryMiB',
  'smPercent',
  'gpuUuid',
  'gpuIndex',
  'tenant',
  'runDir',
] as const;
export type Placeholder = (typeof placeholders)[number];

const pattern = /\{(\w+)\}/g;

/** Refuses unknown names, and those that have no value here. */
export function checkPlaceholders(text: string, what: string, allowed: readonly Placeholder[]): void {
  for (const [whole, name = ''] of text.matchAll(pattern)) {
    if ((allowed as readonly string[]).includes(name)) continue;
    const known = (placeholders as readonly string[]).includes(name);
    const near = closest(name, allowed);
    const hint = known ? unavailableHere(name) : near ? `did you mean {${near}}?` : `known are ${allowed.join(', ')}.`;
    throw new UsageError(`Expected ${what} to have known placeholders but received ${whole}: ${hint}`);
  }
}

export const fill = (text: string, values: Record<Placeholder, string>): string =>
  text.replace(pattern, (_, name: Placeholder) => values[name]);

export const usesPlaceholder = (text: string, name: Placeholder): boolean => text.includes(`{${name}}`);

function unavailableHere(name: string): string {
  if (name === 'tenant') return 'it runs once for all tenants.';
  return name === 'smPercent' ? 'set limits.sm.' : 'set limits.memory.';
}
