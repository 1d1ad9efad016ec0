/** The workload of a token-generating tenant: number of sequences, their lengths, and the size of the model. */

export interface Workload {
  /** Sequences that decode together. */
  batch: number;
  /** Tokens per prompt. */
  prompt: number;
  /** Tokens to generate per sequence. */
  output: number;
}

export const WORKLOADS = {
  T1: { batch: 1, prompt: 128, output: 32 },
  T2: { batch: 1, prompt: 512, output: 128 },
  T3: { batch: 1, prompt: 2048, output: 512 },
  T4: { batch: 4, prompt: 512, output: 128 },
  T5: { batch: 16, prompt: 512, output: 128 },
  T6: { batch: 32, prompt: 512, output: 128 },
} as const satisfies Record<string, Workload>;

export type WorkloadName = keyof typeof WORKLOADS;
export const workloadNames = Object.keys(WORKLOADS) as WorkloadName[];
export const DEFAULT_WORKLOAD: WorkloadName = 'T2';

/** Sizes of a decoder of Llama's architecture. */
export interface DecoderModel {
  layers: number;
  /** A multiple of `heads`; `hidden / heads` is 64 or 128. */
  hidden: number;
  heads: number;
  /** Heads of keys and values; `heads / kvHeads` is an integer of at most 8. Default: `heads`. */
  kvHeads?: number;
  /** Width of the MLP, a multiple of 64. Default: 3.5 times `hidden`. */
  mlp?: number;
  /** Tokens; even. Default: 32000. */
  vocabulary?: number;
}

const MOST: Record<keyof DecoderModel, number> = {
  layers: 256,
  hidden: 16_384,
  heads: 256,
  kvHeads: 256,
  mlp: 65_536,
  vocabulary: 262_144,
};
const isSize = (name: string): name is keyof DecoderModel => Object.hasOwn(MOST, name);

/** Why a model cannot be measured, in the form `Expected model… to be … but received …`. */
class BadModel extends RangeError {}

/** Fills in the defaults. Throws BadModel, or a TypeError if it is not an object. */
export function resolveModel(given: unknown): Required<DecoderModel> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError(`Expected model to be an object with layers, hidden and heads but received ${String(given)}.`);
  for (const [name, value] of Object.entries(given)) {
    if (!isSize(name))
      throw new BadModel(`Expected model to have sizes out of ${Object.keys(MOST).join(', ')} but received '${name}'.`);
    if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > MOST[name])
      throw new BadModel(
        `Expected model.${name} to be an integer from 1 to ${MOST[name]} but received ${String(value)}.`,
      );
  }
  const { layers, hidden, heads, ...rest } = given as Partial<DecoderModel>;
  if (layers === undefined || hidden === undefined || heads === undefined)
    throw new BadModel('Expected model to have layers, hidden and heads but received only some of them.');
  const { kvHeads = heads, mlp = Math.ceil((hidden * 3.5) / 64) * 64, vocabulary = 32_000 } = rest;
  const model = { layers, hidden, heads, kvHeads, mlp, vocabulary };
  checkProportions(model);
  return model;
}

function checkProportions({ hidden, heads, kvHeads, mlp, vocabulary }: Required<DecoderModel>): void {
  const shared = heads / kvHeads;
  const rules: [string, boolean, number][] = [
    ['model.hidden / model.heads to be 64 or 128', [64, 128].includes(hidden / heads), hidden / heads],
    ['model.heads / model.kvHeads to be an integer from 1 to 8', Number.isInteger(shared) && shared <= 8, shared],
    ['model.mlp to be a multiple of 64', mlp % 64 === 0, mlp],
    ['model.vocabulary to be even', vocabulary % 2 === 0, vocabulary],
  ];
  for (const [wanted, holds, received] of rules)
    if (!holds) throw new BadModel(`Expected ${wanted} but received ${received}.`);
}
