/** What the plan of a round says of the programs that it measured (`exec`). Documents may come from anywhere. */
import * as v from 'valibot';
import type { RunDocument } from './document.js';

const recordSchema = v.object({ name: v.string(), sha256: v.string() });

/** Null of a document that is not about programs. */
export function programsOf({ options }: RunDocument['plan']): v.InferOutput<typeof recordSchema>[] | null {
  const found = v.safeParse(v.array(recordSchema), options.workloads);
  return found.success ? found.output : null;
}

/** `decode (SHA-256 0123456789ab…)`: where it differs, something else was measured. */
export const programsText = (programs: NonNullable<ReturnType<typeof programsOf>>): string =>
  programs.map(({ name, sha256 }) => `${name} (SHA-256 ${sha256.slice(0, 12)}…)`).join(', ');
