/** Which differences between two processes of a system invalidate the result of the second one. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { rowState } from '../../../lib/metrics/core/row-state.js';
import { BenchError } from '../../../lib/errors/bench-error.js';
import { isProven, ProcessProofs, UnprovenProcess } from '../../../lib/systems/proof/process-proofs.js';
import { SOLE_TENANT } from '../../../lib/systems/system.js';
import type { Description } from '../../../lib/workers/description.js';
import type { Worker } from '../../../lib/workers/worker.js';
import { description, temporaryFolder } from './fixtures.js';

/** Answers the one request that an inspection makes. */
const workerSaying = (said: Description) =>
  ({ request: () => Promise.resolve(said), targetIn: (target: unknown) => target }) as unknown as Worker;

const look = {
  phase: 'process' as const,
  tenant: SOLE_TENANT,
  target: { simulatedDriver: null, device: null, path: 'runtime' as const },
  signal: new AbortController().signal,
};

/** The driver as a process calls it: its owner on every path. */
function under(owner: string): Description {
  const said = description(null);
  const owners = { runtime: owner, dlsym: owner, linked: owner, bare: owner };
  return { ...said, provenance: { ...said.provenance, functions: [{ name: 'cuInit', owners, interposed: [] }] } };
}

async function invalidAfter(first: string, second: string): Promise<string | undefined> {
  const proofs = new ProcessProofs(environmentSystem({}));
  await proofs.attest(workerSaying(under(first)), look);
  return (await proofs.attest(workerSaying(under(second)), look)).attestation.invalid;
}

describe('a second process', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'libcuda.so.580.1');
  const link = join(folder, 'libcuda.so.1');
  writeFileSync(file, '');
  symlinkSync(file, link);

  it('has the same driver if the loader uses another name of its file', async () => {
    expect(await invalidAfter(link, file)).toBeUndefined();
  });

  it('is refused if another file owns a function', async () => {
    writeFileSync(join(folder, 'other.so'), '');
    expect(await invalidAfter(link, join(folder, 'other.so'))).toMatch(
      /^layer not active: cuInit belongs to .*other\.so/,
    );
  });
});

it('a process of which only the clock was checked is not proven', () => {
  const clock = { proof: "the clock is the system's, after", passed: true, detail: '' };
  const owners = { proof: 'owners of the driver functions', passed: true, detail: '' };
  const attestation = { layer: null, groundTruth: 'nvml' as const, warnings: [] };
  expect(isProven({ ...attestation, proofs: [clock] })).toBe(false);
  expect(isProven({ ...attestation, proofs: [clock, owners] })).toBe(true);
  expect(isProven({ ...attestation, proofs: [owners, { ...clock, passed: false }] })).toBe(false);
});

it('a row of an unproven process invalidates its metric, another failure only the row', () => {
  expect(rowState(new UnprovenProcess('layer not active'))).toBeNull();
  expect(rowState(new BenchError('INVALID_RESULT', 'wrong result'))).toEqual({ failed: 'wrong result' });
});
