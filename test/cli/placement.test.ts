/** Several GPUs in --device: their order, their names, and where each process works. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { recordsIn } from '../native/record.js';
import { command, emptyFolder, parseComparison, parseDocument, simulatedFolder } from './command.js';

const SIM = 'devices=3';
const UUID = 'GPU-67766273-696d-4000-8000-00000000000';
const QUICK = ['--simulate', '--iterations', '1', '--json', '-'];
const nccl = { LD_LIBRARY_PATH: join(simulatedFolder, 'nccl') };

/** The cards on which anything ran, by the record of the simulated driver. */
const workedOn = (folder: string): string[] =>
  [
    ...new Set(
      recordsIn(folder).flatMap(({ calls }) => calls.flatMap(({ name, kernel }) => (name === 'turn' ? [kernel] : []))),
    ),
  ].sort();

async function run(device: string, ids: readonly string[]) {
  const folder = emptyFolder();
  const args = ['run', ...ids, '--device', device, ...QUICK];
  const { stdout, stderr } = await command(args, nccl, `${SIM},record=${folder}`);
  const document = parseDocument(stdout);
  const collective = document.metrics.find(({ id }) => id === 'NCCL-001');
  return {
    document,
    stderr,
    places: workedOn(folder),
    ranks: collective?.details.gpus as { uuid: string }[] | undefined,
  };
}

describe('run --device', () => {
  it('2,0 measures on those GPUs, in that order, and on no other', async () => {
    const { document, places, ranks, stderr } = await run('2,0', ['OH-002', 'NCCL-001']);
    const order = [`${UUID}2`, `${UUID}0`];
    expect(document.gpu.map(({ uuid }) => uuid)).toEqual(order);
    expect(ranks?.map(({ uuid }) => uuid)).toEqual(order);
    expect(document.plan.device).toBe(2);
    expect(stderr).toMatch(/^Devices 2: .*; 0: .* \(--device; metrics of one GPU measure the first\)$/m);
    expect(places).toEqual(['0', '2']);
  });

  it('takes UUIDs beside indices', async () => {
    const { document, places } = await run(`${UUID.toLowerCase()}1, 0`, ['OH-002']);
    expect(document.gpu.map(({ uuid }) => uuid)).toEqual([`${UUID}1`, `${UUID}0`]);
    expect(places).toEqual(['1']);
  });

  it('refuses the same GPU twice', async () => {
    const args = ['run', 'OH-002', '--device', `1,${UUID}1`, ...QUICK];
    const { code, stderr, stdout } = await command(args, {}, SIM);
    expect(stderr).toMatch(/^error: Expected --device to name each GPU once .*: two entries are GPU 1, GPU-.*1\.$/m);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

describe('compare --device and exec --device', () => {
  it('measure every round on the GPUs of the list', async () => {
    const args = ['compare', 'START-005', '--tier', 'quick', '--rounds', '1', '--device', '1,2', ...QUICK];
    const systems = ['--system', 'native', '--system', 'custom:name=same,env.SAME=1'];
    const output = ['--output', join(emptyFolder(), 'out')];
    const { stdout } = await command([...args, ...systems, ...output], {}, SIM);
    for (const [round] of parseComparison(stdout).systems)
      expect(round?.gpu.map(({ uuid }) => uuid)).toEqual([`${UUID}1`, `${UUID}2`]);
  });

  it('show a program the GPUs of the list, in its order', async () => {
    const program = join(emptyFolder(), 'first-card');
    const source = fileURLToPath(new URL('../native/fixtures/first-card.c', import.meta.url));
    execFileSync('cc', ['-o', program, source, '-ldl']);
    const output = join(emptyFolder(), 'out');
    const few = [
      '--rounds',
      '1',
      '--warmup',
      '0',
      '--iterations',
      '1',
      '--simulate',
      '--output',
      output,
      '--json',
      '-',
    ];
    const { stdout } = await command(['exec', ...few, '--device', '2,1', '--system', 'native', '--', program], {}, SIM);
    const [round] = parseComparison(stdout).systems[0] ?? [];
    expect(round?.gpu.map(({ uuid }) => uuid)).toEqual([`${UUID}2`, `${UUID}1`]);
    const seen = readFileSync(join(output, 'logs/round-0001-system-1/first-card/run-0001.stdout'), 'utf8').trim();
    expect(seen).toBe(`${UUID}2`.replace(/^GPU-|-/g, ''));
  });
});

it('CUDA_VISIBLE_DEVICES holds for the native runs that probes are compared with too', async () => {
  const shown = { ...nccl, CUDA_VISIBLE_DEVICES: '1' };
  const { stdout } = await command(['run', 'COMPAT-001', '--simulate', '--json', '-'], shown, SIM);
  const [result] = parseDocument(stdout).metrics;
  const { probes } = result?.details as { probes: { probe: string; outcome: string; native: string }[] };
  const of = (name: string) => probes.find(({ probe }) => probe === name);
  expect(of('NCCL, 1 rank, dlopened')).toMatchObject({ outcome: 'same' });
  expect(of('NCCL, 2 ranks, dlopened')).toMatchObject({ outcome: 'not run', native: 'there are fewer than 2 GPUs' });
  expect(result?.value).toBe(100);
});
