// Writes model.gguf for llama.cpp: random weights in bfloat16, of the shape in examples/pytorch/llama.py, 2.2 GB.
//   node studies/inference-engines/gguf.mjs FILE [--layers N] [--hidden N] [--mlp N] [--vocabulary N]
// Its tokenizer has the single bytes and words that mean nothing. Format: GGUF version 3, described in ggml's docs/gguf.md.
import { Buffer } from 'node:buffer';
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';

const number = (value) => ({ type: 'string', default: String(value) });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { layers: number(16), hidden: number(2_048), mlp: number(8_192), vocabulary: number(32_000) },
});
const shape = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
const HEAD_WIDTH = 64;
const HEADS_PER_KV_HEAD = 4;
const LEAST_WORDS = 260;
const isWrong =
  positionals.length !== 1 ||
  Object.values(shape).some((value) => !Number.isSafeInteger(value) || value < 1) ||
  shape.vocabulary < LEAST_WORDS ||
  shape.hidden % (HEAD_WIDTH * HEADS_PER_KV_HEAD) !== 0;
if (isWrong) {
  console.error(
    `Expected: gguf.mjs FILE [--layers N] [--hidden N] [--mlp N] [--vocabulary N], with whole numbers, --hidden a multiple of ${HEAD_WIDTH * HEADS_PER_KV_HEAD}, --vocabulary ${LEAST_WORDS} or more.`,
  );
  process.exit(2);
}
const [file] = positionals;
const { layers, hidden, mlp, vocabulary } = shape;
const heads = hidden / HEAD_WIDTH;
const kvHeads = heads / HEADS_PER_KV_HEAD;

const ALIGNMENT = 32;
/** Types of values in the header, and of tensors, by the names of the format. */
const UINT32 = 4;
const FLOAT32 = 6;
const INT32 = 5;
const STRING = 8;
const ARRAY = 9;
const F32 = { type: 0, bytes: 4 };
const BF16 = { type: 30, bytes: 2 };
const MOSTLY_BF16 = 32;

const bytesOf = (size, put) => {
  const buffer = Buffer.alloc(size);
  put(buffer);
  return buffer;
};
const u32 = (value) => bytesOf(4, (buffer) => buffer.writeUInt32LE(value));
const u64 = (value) => bytesOf(8, (buffer) => buffer.writeBigUInt64LE(BigInt(value)));
const f32 = (value) => bytesOf(4, (buffer) => buffer.writeFloatLE(value));
const string = (value) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const pair = (key, type, value) => Buffer.concat([string(key), u32(type), value]);

const array = (key, type, items) => pair(key, ARRAY, Buffer.concat([u32(type), u64(items.length), ...items]));

const SPECIAL = ['<unk>', '<s>', '</s>'];
const BYTES = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
const FIRST_WORD = SPECIAL.length + BYTES.length;
const words = Array.from({ length: vocabulary - FIRST_WORD }, (_, index) => `w${FIRST_WORD + index}`);
const tokens = [...SPECIAL, ...BYTES, ...words];
/** Types of the format: 2 unknown, 3 control, 6 byte, 1 normal. */
const tokenType = (id) => (id === 0 ? 2 : id < SPECIAL.length ? 3 : id < FIRST_WORD ? 6 : 1);

const pairs = [
  pair('general.architecture', STRING, string('llama')),
  pair('general.name', STRING, string('random weights')),
  pair('general.file_type', UINT32, u32(MOSTLY_BF16)),
  pair('llama.context_length', UINT32, u32(4_096)),
  pair('llama.embedding_length', UINT32, u32(hidden)),
  pair('llama.block_count', UINT32, u32(layers)),
  pair('llama.feed_forward_length', UINT32, u32(mlp)),
  pair('llama.attention.head_count', UINT32, u32(heads)),
  pair('llama.attention.head_count_kv', UINT32, u32(kvHeads)),
  pair('llama.attention.layer_norm_rms_epsilon', FLOAT32, f32(1e-5)),
  pair('llama.rope.dimension_count', UINT32, u32(HEAD_WIDTH)),
  pair('llama.rope.freq_base', FLOAT32, f32(10_000)),
  pair('llama.vocab_size', UINT32, u32(vocabulary)),
  pair('tokenizer.ggml.model', STRING, string('llama')),
  array('tokenizer.ggml.tokens', STRING, tokens.map(string)),
  array(
    'tokenizer.ggml.scores',
    FLOAT32,
    tokens.map((_, id) => f32(-id)),
  ),
  array(
    'tokenizer.ggml.token_type',
    INT32,
    tokens.map((_, id) => u32(tokenType(id))),
  ),
  pair('tokenizer.ggml.unknown_token_id', UINT32, u32(0)),
  pair('tokenizer.ggml.bos_token_id', UINT32, u32(1)),
  pair('tokenizer.ggml.eos_token_id', UINT32, u32(2)),
];

// The first number of a shape is that of neighbours in memory.
const matrix = (name, columns, rows) => ({ name: `${name}.weight`, shape: [columns, rows], of: BF16 });
const norm = (name) => ({ name: `${name}.weight`, shape: [hidden], of: F32 });
const block = (index) => [
  norm(`blk.${index}.attn_norm`),
  matrix(`blk.${index}.attn_q`, hidden, hidden),
  matrix(`blk.${index}.attn_k`, hidden, kvHeads * HEAD_WIDTH),
  matrix(`blk.${index}.attn_v`, hidden, kvHeads * HEAD_WIDTH),
  matrix(`blk.${index}.attn_output`, hidden, hidden),
  norm(`blk.${index}.ffn_norm`),
  matrix(`blk.${index}.ffn_gate`, hidden, mlp),
  matrix(`blk.${index}.ffn_up`, hidden, mlp),
  matrix(`blk.${index}.ffn_down`, mlp, hidden),
];
const tensors = [
  matrix('token_embd', hidden, vocabulary),
  ...Array.from({ length: layers }, (_, index) => block(index)).flat(),
  norm('output_norm'),
  matrix('output', hidden, vocabulary),
];
const sizeOf = ({ shape: numbers, of }) => numbers.reduce((product, each) => product * each, of.bytes);
const padded = (bytes) => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

let offset = 0;
const infos = tensors.map((tensor) => {
  const { name, shape: numbers, of } = tensor;
  const info = [string(name), u32(numbers.length), ...numbers.map(u64), u32(of.type), u64(offset)];
  offset += padded(sizeOf(tensor));
  return Buffer.concat(info);
});
const header = Buffer.concat([Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(pairs.length), ...pairs, ...infos]);

const PIECE = 4 * 2 ** 20;
let state = 1;
/** Uniform from -1 to 1, by Marsaglia's xorshift; the same in every file. */
const random = () => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state / 2 ** 31;
};
const pools = new Map();
/** Values as PyTorch draws them for a product with so many columns, enough for a piece from any place in its first half. */
function poolOf(columns) {
  const known = pools.get(columns);
  if (known !== undefined) return known;
  const most = 1 / Math.sqrt(columns);
  const values = new Float32Array((2 * PIECE) / BF16.bytes);
  for (let index = 0; index < values.length; index += 1) values[index] = most * random();
  // A bfloat16 is the upper half of a float.
  const halves = new Uint16Array(values.length);
  for (const [index, bits] of new Uint32Array(values.buffer).entries()) halves[index] = bits >>> 16;
  const pool = Buffer.from(halves.buffer);
  pools.set(columns, pool);
  return pool;
}
/** Two bytes times a prime number, so that pieces begin at places of their own. */
const STRIDE = 2 * 524_309;
let place = 0;
function weights(bytes, columns) {
  place = (place + STRIDE) % PIECE;
  return poolOf(columns).subarray(place, place + bytes);
}
const ones = Buffer.from(new Float32Array(hidden).fill(1).buffer);

const unfinished = `${file}.unfinished`;
const to = openSync(unfinished, 'w');
try {
  const put = (buffer) => {
    for (let from = 0; from < buffer.length;) from += writeSync(to, buffer, from);
  };
  put(Buffer.concat([header, Buffer.alloc(padded(header.length) - header.length)]));
  for (const tensor of tensors) {
    const size = sizeOf(tensor);
    if (tensor.of === F32) put(ones);
    else for (let from = 0; from < size; from += PIECE) put(weights(Math.min(PIECE, size - from), tensor.shape[0]));
    put(Buffer.alloc(padded(size) - size));
  }
  closeSync(to);
  renameSync(unfinished, file);
} catch (error) {
  rmSync(unfinished, { force: true });
  throw error;
}
console.log(`${file}: ${tensors.length} tensors, ${padded(header.length) + offset} bytes`);
