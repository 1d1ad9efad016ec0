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

/** Whether a round measured programs (`exec`) and not metrics of this tool. */
export const isOfPrograms = ({ plan }: Pick<RunDocument, 'plan'>): boolean => programsOf(plan) !== null;

export interface Part {
  ofPrograms: boolean;
  /** The rounds of every system. */
  systems: RunDocument[][];
}

/** Rounds of metrics and rounds of programs: a merged document may have both. A part without rounds is left out. */
export const partsOf = (systems: readonly (readonly RunDocument[])[]): Part[] =>
  [false, true]
    .map((ofPrograms) => ({
      ofPrograms,
      systems: systems.map((rounds) => rounds.filter((round) => isOfPrograms(round) === ofPrograms)),
    }))
    .filter(({ systems: parts }) => parts.some((rounds) => rounds.length > 0));

/** `decode (SHA-256 0123456789ab…)`: if the hash differs, another program was measured. */
export const programsText = (programs: readonly RecordedProgram[]): string =>
  programs.map((program) => `${program.name} (${hashText(program)})`).join(', ');

/** `SHA-256 0123456789ab…` */
export const hashText = ({ sha256 }: RecordedProgram): string => `SHA-256 ${sha256.slice(0, 12)}…`;

/** Names of the programs with secrets, which must be given again. */
export function programsWithSecrets({ options }: RunDocument['plan']): string[] {
  const found = v.safeParse(v.array(v.looseObject({ name: v.string() })), options.workloads);
  if (!found.success) return [];
  return found.output.filter((each) => JSON.stringify(each).includes(NOT_RECORDED)).map(({ name }) => name);
}
