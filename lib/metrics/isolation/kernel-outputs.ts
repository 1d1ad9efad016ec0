/** Outputs of kernels in one process, and how they differ from those of another one. */
import type { OutputKernel, Outputs, OutputsRequest } from '../../native/addon-types.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';

export const KERNELS: Readonly<Record<OutputKernel, string>> = {
  attention: 'attention of a prompt (LLM-001)',
  linearLayer: 'linear layer of 32 tokens (LLM-003)',
  decoder: 'logits and tokens of a decoder (LLM-004)',
  product: 'matrix product (OH-010)',
  unitAttention: 'attention in single precision (OH-010)',
  orderedSum: 'sums in a fixed order',
};

const DEADLINE_MS = 300_000;

export const outputsOf = (tenant: WorkerTenant, request: OutputsRequest): Promise<Outputs> =>
  askSession(tenant, { name: 'kernelOutputs', request, deadlineMs: DEADLINE_MS });

async function bytesOf(tenant: WorkerTenant, index: number): Promise<Buffer> {
  const { bytes } = await askSession(tenant, { name: 'keptOutput', request: { index }, deadlineMs: DEADLINE_MS });
  return Buffer.from(bytes, 'hex');
}

export interface Difference {
  /** Repetitions whose output is another one. */
  results: number;
  /** The place of the first of them. */
  firstByte: number;
  bytes: number;
  /** Null where one of the two is no number. */
  largest: number | null;
}

/** IEEE half precision. */
function half(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1_023];
  const size = exponent === 0 ? fraction / 2 ** 24 : (1 + fraction / 1_024) * 2 ** (exponent - 15);
  const magnitude = exponent === 31 ? (fraction === 0 ? Number.POSITIVE_INFINITY : Number.NaN) : size;
  return bits & 0x8000 ? -magnitude : magnitude;
}

function numbersOf(bytes: Buffer, number: string): number[] {
  const wide = number === 'fp32';
  const size = wide ? 4 : 2;
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, i) =>
    wide ? bytes.readFloatLE(i * size) : half(bytes.readUInt16LE(i * size)),
  );
}

function differenceOf(native: Buffer, own: Buffer, number: string): Omit<Difference, 'results'> {
  const differs = [...native.keys()].filter((i) => native[i] !== own[i]);
  const theirs = numbersOf(own, number);
  const apart = numbersOf(native, number).map((value, i) =>
    Object.is(value, theirs[i]) ? 0 : Math.abs(value - (theirs[i] as number)),
  );
  const largest = apart.reduce((most, one) => (one > most || Number.isNaN(one) ? one : most), 0);
  return { firstByte: differs[0] ?? 0, bytes: differs.length, largest: Number.isFinite(largest) ? largest : null };
}

/**
 * Null if all outputs are the same. The native process computes the first one that differs again: `unfixed` if that gives other
 * bits than before.
 */
export async function compared(
  native: { tenant: WorkerTenant; outputs: Outputs },
  own: { tenant: WorkerTenant; outputs: Outputs },
  request: OutputsRequest,
): Promise<Difference | 'unfixed' | null> {
  const digests = own.outputs.digests;
  const differing = digests.flatMap((digest, i) => (digest === native.outputs.digests[i] ? [] : [i]));
  const [first] = differing;
  if (first === undefined) return null;
  const seen = await bytesOf(own.tenant, first);
  const again = await outputsOf(native.tenant, { ...request, first, repetitions: 1 });
  if (again.digests[0] !== native.outputs.digests[first]) return 'unfixed';
  return { results: differing.length, ...differenceOf(await bytesOf(native.tenant, 0), seen, own.outputs.number) };
}
