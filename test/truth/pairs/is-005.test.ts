/** IS-005 finds the content that the simulated card leaks, surface by surface, and none if it leaks none. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SurfaceRow } from '../../../lib/metrics/isolation/shared/surfaces.js';
import type { MetricResult } from '../../../lib/results/document.js';
import { environmentSystem } from '../../../lib/systems/process/environment.js';
import { emptyFolder } from '../../native/child.js';
import { environment, environmentUnder, measured } from '../../native/measured.js';
import { type Recorded, recordedByProcess } from '../../native/record.js';
import { ownRegion } from '../../temporary.js';

/** The driver's function that hands out each kind of memory. */
const CALLS: Record<string, string> = {
  cuMemAlloc: 'cuMemAlloc_v2',
  cuMemAllocAsync: 'cuMemAllocAsync',
  cuMemCreate: 'cuMemMap',
  cuMemAllocManaged: 'cuMemAllocManaged',
  cuArrayCreate: 'cuArrayCreate_v2',
  cuMemHostAlloc: 'cuMemHostAlloc',
};
const ARRAY_BUFFER = 4 * 2 ** 20;
const ALL = 'alloc+pool+vmm+managed+pinned+shared+local+registers+ipc+descriptor+array';
/** Surfaces that no setting of the simulation can leak. */
const NEVER = ['IPC handle (forged)', 'address of another process (load)'];

const layer = join(emptyFolder(), 'lazy-layer.so');

beforeAll(() => {
  const source = fileURLToPath(new URL('../../native/fixtures/lazy-layer.cpp', import.meta.url));
  execFileSync('c++', ['-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
});

const rowsOf = ({ details }: MetricResult) => details.surfaces as SurfaceRow[];
const named = ({ surface, transition }: SurfaceRow) => `${surface} (${transition})`;

/** Several cards at a time: each measurement has its own. */
const onOwnCard = (sim: string) => `region=${ownRegion('leaks')},${sim}`;

async function measureLeaking(residue: string) {
  const record = emptyFolder();
  const functions = [...new Set(Object.values(CALLS))].join('+');
  const sim = onOwnCard(`recorded=${functions}${residue && `,residue=${residue}`}`);
  const result = await measured('IS-005', environmentUnder(null, sim, record), { seed: 1 });
  return { result, rows: rowsOf(result), processes: recordedByProcess(record) };
}

/** Bytes of other processes' data that were handed out to the searching tenant, which lives longest. */
function handedOut(processes: readonly Recorded[], surface: string): number {
  const lived = ({ calls }: Recorded) => (calls.at(-1)?.left ?? 0) - (calls[0]?.entered ?? 0);
  const [attacker] = [...processes].sort((a, b) => lived(b) - lived(a));
  return (attacker?.named(CALLS[surface] ?? '') ?? []).reduce((sum, { begins }) => sum + begins, 0);
}

describe.concurrent('IS-005', () => {
  it('passes a card that clears what it hands out', async () => {
    const { result, rows, processes } = await measureLeaking('');
    expect(result).toMatchObject({ status: 'ok', value: 1, processes: 5 });
    expect(result.violations).toBeUndefined();
    expect(rows).toHaveLength(25);
    for (const row of rows) expect(row).toMatchObject({ control: 'passed', outcome: 'clean', bytes: 0 });
    for (const surface of Object.keys(CALLS)) expect(handedOut(processes, surface)).toBe(0);
    // A process's own data is no leak, and shows that the scan finds memory that was not cleared.
    const reused = result.details.reusedInOneProcess as { surface: string; taggedBytes: number }[];
    expect(reused.filter(({ taggedBytes }) => taggedBytes > 0).map(({ surface }) => surface)).toEqual(
      expect.arrayContaining(['cuMemAlloc', 'cuMemAllocAsync', 'cuMemCreate']),
    );
  });

  it('finds as much on every surface as the card leaked', async () => {
    const { result, rows, processes } = await measureLeaking(ALL);
    expect(result).toMatchObject({ status: 'ok', value: 0 });
    const leaking = rows.filter(({ outcome }) => outcome === 'leaks').map(named);
    expect(leaking).toEqual(rows.map(named).filter((name) => !NEVER.includes(name)));
    expect(result.violations).toHaveLength(leaking.length);
    for (const surface of Object.keys(CALLS)) {
      const found = rows.filter((row) => row.surface === surface);
      const bytes = found.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
      const [truth, others] = [handedOut(processes, surface), found.length * 64];
      expect(truth).toBeGreaterThan(0);
      // Counters of the victims, a few units, are handed out too and are not the tag. The buffer through which arrays
      // are copied is memory of cuMemAlloc, and overwritten before it is scanned.
      const buffers = surface === 'cuMemAlloc' ? found.length * ARRAY_BUFFER : 0;
      expect(Math.abs(bytes + buffers - truth)).toBeLessThanOrEqual(others);
    }
  });

  it.each([
    ['vmm+local', ['cuMemCreate (exit)', 'cuMemCreate (SIGKILL)'], 'local memory'],
    ['array+shared', ['cuArrayCreate (exit)', 'cuArrayCreate (SIGKILL)'], 'shared memory'],
    ['pinned+registers', ['cuMemHostAlloc (exit)', 'cuMemHostAlloc (SIGKILL)'], 'registers'],
  ])('names only the surfaces %s', async (residue, memory, chip) => {
    const { rows } = await measureLeaking(residue);
    const onChip = ['time slices', 'exit', 'SIGKILL'].map((transition) => `${chip} (${transition})`);
    const leaking = rows.filter(({ outcome }) => outcome === 'leaks').map(named);
    expect(leaking.sort()).toEqual([...memory, ...onChip].sort());
  });

  it('repeats its rounds at tier standard, with another allocation path first', async () => {
    const system = environmentUnder(null, onOwnCard('launch_ns=2500'));
    const result = await measured('IS-005', system, { seed: 1, tier: 'standard' });
    expect(result).toMatchObject({ status: 'ok', value: 1, processes: 10, details: { rounds: 2 } });
    const names = rowsOf(result).map(named);
    expect(names).toHaveLength(50);
    const [first, second] = [names.slice(0, 25), names.slice(25)];
    expect([...second].sort()).toEqual([...first].sort());
    const looksFirst = (round: readonly string[]) => round.find((name) => /^cuMem.*\(exit\)$/.test(name));
    expect(looksFirst(second)).not.toBe(looksFirst(first));
  });

  it('is invalid if a tenant does not find its own tag', async () => {
    const lazy = { LD_PRELOAD: layer, GVB_TEST_LAZY: 'kernel=gvb_tag_fill' };
    const system = environmentSystem({ ...environment(null, onOwnCard('launch_ns=2500')), ...lazy });
    const result = await measured('IS-005', system);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(/^positive controls: .*cuMemAlloc \(exit\)/);
  });
});
