/** The weights of linear layers, as LLM-003 and LLM-009 multiply by them, for the details of a result. */
import * as v from 'valibot';
import { count, described, text } from '../core/details.js';

interface Weights {
  n: number;
  k: number;
  layers: number;
}

/** Schema of `describedWeights`. */
export const weightsField = described(
  v.strictObject({
    n: count("Rows of a layer's weights"),
    k: count("Columns of a layer's weights"),
    layers: count('Layers, each with weights of its own'),
    number: text('Format of a weight'),
  }),
  'The weights of the linear layers',
);

export const describedWeights = ({ n, k, layers }: Weights): v.InferOutput<typeof weightsField> => ({
  n,
  k,
  layers,
  number: 'fp16',
});
