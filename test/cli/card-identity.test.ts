/** The card that --device names is the one that programs and every worker see. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { command, emptyFolder, parseComparison, parseDocument } from './command.js';
import { pathWithMps } from './mps-control.js';

const program = join(emptyFolder(), 'first-card');
beforeAll(() => {
  const source = fileURLToPath(new URL('../native/fixtures/first-card.c', import.meta.url));
  execFileSync('cc', ['-o', program, source, '-ldl']);
});

/** The UUID of the card that the document is about, and that of the program's first one, as hexadecimal digits. */
async function cards(device: string, sim: string, system = 'native') {
  const output = join(emptyFolder(), 'out');
  const few = ['--rounds', '1', '--warmup', '0', '--iterations', '1', '--simulate', '--output', output, '--json', '-'];
  const args = ['exec', ...few, '--device', device, '--system', system, '--', program];
  const { stdout } = await command(args, { PATH: pathWithMps() }, sim);
  const [round] = parseComparison(stdout).systems[0] ?? [];
  const seen = readFileSync(join(output, 'logs/round-0001-system-1/first-card/run-0001.stdout'), 'utf8').trim();
  return { meant: round?.gpu[0]?.uuid.replace(/^[A-Z]+-|-/g, ''), seen };
}

describe('exec on unequal cards, of which the driver puts the faster one first', () => {
  const unequal = 'devices=2,sms@0=40,sms@1=132';
  it.each(['0', '1'])('--device %s', async (device) => {
    const { meant, seen } = await cards(device, unequal);
    expect(meant).toMatch(/^[0-9a-f]{32}$/);
    expect(seen).toBe(meant);
  });
});

describe('exec under MPS, whose clients count the GPUs that the daemon serves', () => {
  it.each(['mps', 'mps:gpus=visible'])('%s', async (system) => {
    const { meant, seen } = await cards('2', 'devices=3', system);
    expect(meant).toMatch(/^[0-9a-f]{32}$/);
    expect(seen).toBe(meant);
  });
});

describe('a MIG instance other than the first', () => {
  const split = 'mig@0=3+2';
  const instance = 'MIG-67766273-696d-4000-8000-000000000200';

  it('is what a program of exec sees', async () => {
    const { meant, seen } = await cards(instance, split);
    expect(seen).toBe(instance.replace(/^MIG-|-/g, ''));
    expect(meant).toBe(seen);
  });

  it('is measured where the caller names it before another, by any beginning', async () => {
    const visible = { CUDA_VISIBLE_DEVICES: `${instance.slice(0, -2)},MIG-67766273-696d-4000-8000-000000000100` };
    const few = ['OH-002', '--simulate', '--iterations', '20', '--json', '-'];
    const { gpu, metrics } = parseDocument((await command(['run', ...few], visible, split)).stdout);
    expect([gpu[0]?.uuid, metrics[0]?.status]).toEqual([instance, 'ok']);
  });

  it('is what run and the systems of compare measure', async () => {
    const few = ['OH-002', '--simulate', '--iterations', '20', '--device', instance, '--json', '-'];
    const { gpu, metrics } = parseDocument((await command(['run', ...few], {}, split)).stdout);
    expect([gpu[0]?.uuid, metrics[0]?.status]).toEqual([instance, 'ok']);
    const { stdout } = await command(['run', 'IS-013', ...few.slice(1)], {}, split);
    expect(parseDocument(stdout).metrics[0]).toMatchObject({ status: 'ok', value: 1 });
    const systems = [
      '--tier',
      'quick',
      '--system',
      'native',
      '--system',
      'native:name=again',
      '--rounds',
      '1',
      '--output',
      join(emptyFolder(), 'out'),
    ];
    const compared = parseComparison((await command(['compare', ...few, ...systems], {}, split)).stdout);
    for (const [round] of compared.systems) {
      expect(round?.gpu[0]?.uuid).toBe(instance);
      expect(round?.metrics[0]?.status).toBe('ok');
    }
  });
});
