// Greedy generation with llama.cpp through node-llama-cpp.
//   node llama.mjs PACKAGES MODEL [--prompt N] [--tokens N] [--gpu cuda|none]
// PACKAGES: a folder in which `npm install node-llama-cpp` was run. The second answer is timed and printed as one line of JSON, with the
// names of examples/pytorch/decode.py.
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    prompt: { type: 'string', default: '128' },
    tokens: { type: 'string', default: '256' },
    gpu: { type: 'string', default: 'cuda' },
  },
});
const [packages, modelPath] = positionals;
const [promptLength, tokenCount] = [Number(values.prompt), Number(values.tokens)];
if (positionals.length !== 2 || !(promptLength >= 1 && tokenCount >= 2) || !['cuda', 'none'].includes(values.gpu)) {
  console.error('Expected: llama.mjs PACKAGES MODEL [--prompt N] [--tokens N, at least 2] [--gpu cuda|none]');
  process.exit(2);
}

const entry = pathToFileURL(join(packages, 'node_modules/node-llama-cpp/dist/index.js'));
const { getLlama } = await import(entry.href);
// Without the card it ends with an error, and does not fall back to the processor.
const llama = await getLlama({ gpu: values.gpu === 'none' ? false : values.gpu, build: 'never' });
const model = await llama.loadModel({ modelPath, gpuLayers: values.gpu === 'none' ? 0 : 'max' });
const context = await model.createContext({ contextSize: promptLength + tokenCount });
const FIRST_WORD = 259; // tokens below it are control tokens and single bytes
const WORDS = 500;
const prompt = Array.from({ length: promptLength }, (_, index) => FIRST_WORD + ((index * 7_919) % WORDS));

/** Times at which the program had each token, in ms since the start, and the sum of the tokens. */
async function answer() {
  const sequence = context.getSequence();
  const times = [];
  let checksum = 0;
  const began = performance.now();
  // A token that ends a text does not end the measurement.
  for await (const token of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
    times.push(performance.now() - began);
    checksum += token;
    if (times.length === tokenCount) break;
  }
  sequence.dispose();
  if (times.length < tokenCount) throw new Error(`Expected ${tokenCount} tokens but received ${times.length}.`);
  return { times, checksum };
}

await answer();
const { times, checksum } = await answer();
const gaps = times.slice(1).map((time, index) => time - times[index]);
const sorted = gaps.toSorted((a, b) => a - b);
console.log(
  JSON.stringify({
    gpu: values.gpu,
    gpu_layers: model.gpuLayers,
    ttft_ms: times[0],
    itl_ms: sorted[Math.floor(sorted.length / 2)],
    itl_p99_ms: sorted[Math.min(sorted.length - 1, Math.floor(0.99 * sorted.length))],
    tokens_per_second: (1_000 * gaps.length) / gaps.reduce((sum, gap) => sum + gap, 0),
    checksum,
  }),
);
await llama.dispose();
