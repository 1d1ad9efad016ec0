/** The programs recorded in the plan of a round (`exec`). Documents are not trusted. */
import * as v from 'valibot';
import { NOT_RECORDED, type RunDocument } from './document.js';

const recordSchema = v.object({
  name: v.string(),
  sha256: v.string(),
  argv: v.array(v.string()),
  warmup: v.number(),
  iterations: v.number(),
  /** The tenants, if the program is a scene. */
  tenants: v.optional(
    v.array(v.object({ name: v.string(), argv: v.optional(v.array(v.string())), task: v.optional(v.string()) })),
  ),
  git: v.nullable(v.object({ commit: v.string(), hasChanges: v.boolean() })),
});

export type RecordedProgram = v.InferOutput<typeof recordSchema>;

/** Null for a document that is not about programs. */
export function programsOf({ options }: RunDocument['plan']): RecordedProgram[] | null {
  const found = v.safeParse(v.array(recordSchema), options.workloads);
  return found.success ? found.output : null;
}

/** `decode (SHA-256 0123456789ab…)`: if the hash differs, another program was measured. */
export const programsText = (programs: readonly RecordedProgram[]): string =>
  programs.map(({ name, sha256 }) => `${name} (SHA-256 ${sha256.slice(0, 12)}…)`).join(', ');

/** Names of the programs with secrets, which must be given again. */
export function programsWithSecrets({ options }: RunDocument['plan']): string[] {
  const found = v.safeParse(v.array(v.looseObject({ name: v.string() })), options.workloads);
  if (!found.success) return [];
  return found.output.filter((each) => JSON.stringify(each).includes(NOT_RECORDED)).map(({ name }) => name);
}
