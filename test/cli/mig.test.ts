/** The system `mig` on simulated cards that GVB_SIM cuts into instances, and set-ups that only look like it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ComparisonDocument } from '../../lib/results/document.js';
import { command, emptyFolder, parseComparison } from './command.js';
import { pathWithMps } from './mps-control.js';

const card = (index: number) => `GPU-67766273-696d-4000-8000-00000000000${index}`;
const instance = (index: number, number: number) => `MIG-67766273-696d-4000-8000-000000000${number + 1}0${index}`;
/** Card 0 and 2 in MIG mode, card 1 whole. */
const split = ['devices=3,card@0=h200,card@1=h200,card@2=h200', 'mig@0=1g.18gb+1g.18gb+3g.71gb,mig@2=1g.18gb'].join(
  ',',
);

async function compare(systems: readonly string[], sim = split, more: readonly string[] = []) {
  const rounds = more.includes('--detect') ? [] : ['--rounds', '1'];
  const few = ['OH-002', '--simulate', '--tier', 'quick', '--iterations', '20', ...rounds, '--json', '-'];
  const named = systems.flatMap((system) => ['--system', system]);
  const output = ['--output', join(emptyFolder(), 'out')];
  const outcome = await command(['compare', ...few, ...named, ...output, ...more], { PATH: pathWithMps() }, sim);
  const first = () => parseComparison(outcome.stdout).systems.map(([round]) => round);
  return { ...outcome, rounds: first, warnings: () => parseComparison(outcome.stdout).warnings };
}

/** A layer on the instance that changes a variable before the driver is loaded. */
function changing(statement: string): string {
  const file = join(emptyFolder(), 'change.cjs');
  writeFileSync(file, `${statement}\n`);
  return `layer.kind=custom,layer.env.NODE_OPTIONS=--require=${file}`;
}

describe('mig', () => {
  it('is measured on an instance, native on a whole card beside it, and says so', async () => {
    const { code, rounds, warnings } = await compare(['native', 'mig:profile=1g.18gb', 'mig:name=big,profile=3g.71gb']);
    expect(code).toBe(0);
    const seen = rounds().map((round) => [
      round?.gpu[0]?.uuid,
      round?.gpu[0]?.multiprocessors,
      round?.metrics[0]?.status,
    ]);
    expect(seen).toEqual([
      [card(1), 132, 'ok'],
      [instance(0, 0), 16, 'ok'],
      [instance(0, 2), 60, 'ok'],
    ]);
    const { settings, attestation } = rounds()[1]?.system ?? {};
    expect(settings).toMatchObject({
      'mig.profile': '1g.18gb',
      'mig.instances': `${instance(0, 0)},${instance(0, 1)}`,
      'mig.card': card(0),
    });
    expect(attestation?.every(({ passed }) => passed)).toBe(true);
    expect(attestation?.map(({ proof }) => proof)).toEqual(
      expect.arrayContaining([
        'the process sees its MIG instance alone',
        'profile in the name of the device',
        'multiprocessors of the instance',
        'memory of the instance by NVML',
        'the instance by NVML outside',
        'allocation of 16640 MiB is refused',
      ]),
    );
    expect(warnings().join(' ')).toContain(`native is measured on the whole card ${card(1)}, mig, big on an instance`);
  });

  it('finds an instance by every form of its name', async () => {
    const { code, rounds } = await compare([
      `mig:name=a,instance=${instance(0, 1)}`,
      `mig:name=b,instance=MIG-${card(0)}/1/0`,
      `mig:name=c,instance=${instance(0, 1).toLowerCase().replace(/^mig/, 'MIG')},card=0,profile=1g.18gb`,
    ]);
    expect(code).toBe(0);
    for (const round of rounds()) expect(round?.gpu[0]?.uuid).toBe(instance(0, 1));
  });

  it('has MPS inside, whose percentage is of the instance', async () => {
    const { code, rounds } = await compare([
      'mig:profile=1g.18gb',
      'mig:name=half,profile=1g.18gb,layer.kind=mps,layer.sm=50',
    ]);
    expect(code).toBe(0);
    const half = rounds()[1];
    expect(half?.gpu[0]).toMatchObject({ uuid: instance(0, 0), mpsClient: true, multiprocessors: 8 });
    expect(half?.system.attestation).toContainEqual(
      expect.objectContaining({ passed: true, detail: 'the tenant has 8 of 16, 50 % was set' }),
    );
  });

  describe('beside native that was measured before', () => {
    const whole = join(emptyFolder(), 'native.json');
    const cut = 'card=h200,mig=1g.18gb';
    beforeAll(async () => {
      const { code, stdout } = await compare(['native', 'time-slicing'], 'card=h200', ['--rounds', '2']);
      expect(code).toBe(0);
      writeFileSync(whole, stdout);
    });

    /** The result with something else in it. */
    function changed(change: (document: ComparisonDocument) => void): string {
      const document = JSON.parse(readFileSync(whole, 'utf8')) as ComparisonDocument;
      change(document);
      const file = join(emptyFolder(), 'changed.json');
      writeFileSync(file, JSON.stringify(document));
      return file;
    }

    it('is compared with it where every card is cut, and says so', async () => {
      const systems = [`native:recorded=${whole}`, 'mig:profile=1g.18gb'];
      const { code, stdout, stderr } = await compare(systems, cut, ['--rounds', '2']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('Round 1, native: recorded') });
      const document = parseComparison(stdout);
      const before = parseComparison(readFileSync(whole, 'utf8'));
      expect(document.systems[0]).toEqual(before.systems[0]?.map((round) => ({ ...round, recorded: true })));
      expect(document.systems[1]?.map(({ gpu, recorded }) => [gpu[0]?.uuid, recorded])).toEqual(
        Array(2).fill([instance(0, 0), undefined]),
      );
      expect(document.effects).toMatchObject([{ metric: 'OH-002', system: 'mig', baseline: 'native', rounds: 2 }]);
      expect(document.warnings.join(' ')).toMatch(
        new RegExp(`native was not measured now: its rounds are those of \\S+ on ${card(0)}, from \\S+native\\.json`),
      );
    });

    it.each<[string, () => string, RegExp, (readonly string[])?]>([
      ['fewer rounds', () => whole, /it has 2 complete, proven rounds of native, 3 are planned/, ['--rounds', '3']],
      ['another driver', () => changed(({ systems }) => systems.flat().forEach((round) => (round.driver.version = '1'))), /with the same driver/], // prettier-ignore
      ['another model', () => changed(({ systems }) => systems.flat().forEach(({ gpu }) => gpu.forEach((one) => (one.name = 'A10')))), /with the same model of GPU .*NVIDIA H200.* but received .*A10/], // prettier-ignore
      ['another version', () => changed(({ systems }) => systems.flat().forEach(({ tool }) => (tool.version = '0.0.1'))), /with the same version of gpu-virt-bench/], // prettier-ignore
      ['other samples', () => whole, /with the same manner of measuring .*iterations 30.* but received .*iterations 20/, ['--iterations', '30']], // prettier-ignore
      ['no native', () => changed(({ systems }) => systems.flat().forEach(({ system }) => (system.kind = 'custom'))), /no system of it is native/], // prettier-ignore
      ['planned rounds', () => whole, /but received --budget or --detect/, ['--detect', '5%']],
      ['no file', () => join(emptyFolder(), 'none.json'), /Expected a result document but received/],
    ])('refuses a result with %s', async (_, file, says, more = []) => {
      const systems = [`native:recorded=${file()}`, 'mig:profile=1g.18gb'];
      const { code, stderr } = await compare(systems, cut, more);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(says) as string });
    });

    it('refuses to measure nothing', async () => {
      const { code, stderr } = await compare([`native:recorded=${whole}`, `native:name=again,recorded=${whole}`], cut);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Expected a system to measure') });
    });
  });

  it.each<[string, string, RegExp, string?, (readonly string[])?]>([
    [
      'a profile that no instance has',
      'mig:profile=2g.35gb',
      /but received '2g\.35gb': there are MIG-.*sudo nvidia-smi mig -i 0 -cgi 2g\.35gb -C/,
    ],
    [
      'a profile of another instance',
      `mig:profile=1g.18gb,instance=${instance(0, 2)}`,
      /to have profile 1g\.18gb but received .*3g\.71gb/,
    ],
    [
      'an instance of another card',
      `mig:instance=${instance(2, 0)},card=0`,
      /Expected instance of mig to name one MIG instance/,
    ],
    ['a whole card', 'mig:profile=1g.18gb', /no GPU of this machine has one.*nvidia-smi -i 0 -mig 1/, 'card=h200'],
    ['a beginning of several', 'mig:instance=MIG-67766273', /several UUIDs begin so/],
    [
      'native on no whole card',
      'mig:profile=1g.18gb',
      /Expected a GPU that is not in MIG mode for native/,
      'card=h200,mig=1g.18gb',
    ],
    [
      'native on a split card',
      'mig:profile=1g.18gb',
      /Expected --device to be a GPU that is not in MIG mode/,
      split,
      ['--device', '2'],
    ],
    [
      'HAMi-core with a compute limit inside',
      'mig:profile=1g.18gb,layer.kind=hami-core,layer.sm=50',
      /its compute limit is off/,
    ],
    [
      'a recorded result inside',
      'mig:profile=1g.18gb,layer.recorded=native.json',
      /a recorded result is measured nowhere/,
    ],
    ['swap inside', 'mig:profile=1g.18gb,layer.kind=swap', /does not checkpoint processes on an instance/],
    ['MIG inside', 'mig:profile=1g.18gb,layer.kind=mig', /an instance has no instances/],
  ])('refuses %s', async (_, system, says, sim = split, more = []) => {
    const { code, stderr } = await compare(['native', system], sim, more);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(says) as string });
  });

  it.each([
    [
      'the whole card of another place',
      `process.env.CUDA_VISIBLE_DEVICES = '${card(1)}';`,
      /it sees GPU-\S+ \(a whole GPU\)/,
    ],
    [
      'an instance of another card',
      `process.env.CUDA_VISIBLE_DEVICES = '${instance(2, 0)}';`,
      /sees its MIG instance alone: it sees MIG-\S+0102;/,
    ],
    [
      'another instance of the card',
      `process.env.CUDA_VISIBLE_DEVICES = '${instance(0, 2)}';`,
      /failed too: .*multiprocessors of the instance/,
    ],
    ['every card', 'delete process.env.CUDA_VISIBLE_DEVICES;', /sees its MIG instance alone: it sees .*, /],
  ])('publishes nothing of a process that sees %s', async (_, statement, says) => {
    const { code, rounds } = await compare(['native', `mig:profile=1g.18gb,${changing(statement)}`]);
    expect(code).toBe(5);
    expect(rounds()[1]?.metrics[0]).toMatchObject({ status: 'invalid', value: null });
    expect(rounds()[1]?.metrics[0]?.reason).toMatch(says);
  });
});

describe('exec on an instance', () => {
  const program = join(emptyFolder(), 'holding');
  beforeAll(() => {
    const source = fileURLToPath(new URL('../native/fixtures/holding.c', import.meta.url));
    execFileSync('cc', ['-o', program, source, '-ldl']);
  });

  /** A run of a program under a system on an instance. */
  async function exec(system: string, ...argv: readonly string[]) {
    const few = ['--rounds', '1', '--warmup', '0', '--iterations', '1', '--simulate', '--json', '-'];
    const output = ['--output', join(emptyFolder(), 'out')];
    const args = ['exec', ...few, ...output, '--system', system, '--', ...argv];
    const { code, stdout } = await command(args, { PATH: pathWithMps() }, split);
    const round = parseComparison(stdout).systems[0]?.[0];
    const [metric] = round?.metrics ?? [];
    const check = metric?.checks.find(({ name }) => name === 'processes of the program under the system');
    return { code, name: round?.system.name, metric, check };
  }

  // NVML is asked ten times a second.
  const held = '3000';

  it.each([
    ['the bare driver', 'mig:profile=1g.18gb'],
    ['time-slicing', 'mig:profile=1g.18gb,layer.kind=time-slicing'],
    ['MPS', 'mig:profile=1g.18gb,layer.kind=mps'],
    ['one of several', `mig:instance=${instance(0, 2)}`],
  ])('is proven with %s', async (_, system) => {
    const { code, name, check } = await exec(system, program, held);
    expect({ code, name, passed: check?.passed }).toEqual({ code: 0, name: 'mig', passed: true });
    const uuid = system.includes('instance') ? instance(0, 2) : instance(0, 0);
    expect(check?.detail).toContain(`NVML listed 1 of 1 processes that used the driver on ${uuid}, and none elsewhere`);
  });

  it.each([
    ['environment, to a whole card', ['env', `CUDA_VISIBLE_DEVICES=${card(1)}`, program, held], card(1)],
    ['program itself, to a whole card', [program, held, card(1)], card(1)],
    ['program itself, to another instance', [program, held, instance(0, 1)], instance(0, 1)],
    ['program itself, to an instance of another card', [program, held, instance(2, 0)], instance(2, 0)],
  ])('publishes nothing where it was changed by the %s', async (_, argv, uuid) => {
    const { code, metric } = await exec('mig:profile=1g.18gb', ...argv);
    expect(code).toBe(5);
    expect(metric).toMatchObject({ status: 'invalid', value: null });
    expect(metric?.reason).toContain(`(holding) on ${uuid}, not on ${instance(0, 0)}`);
  });

  it('is unverified where NVML could not list the program in time', async () => {
    const { code, name, check } = await exec('mig:profile=1g.18gb', process.execPath, '--version');
    expect({ code, name, passed: check?.passed }).toEqual({ code: 0, name: 'mig (unverified)', passed: 'not checked' });
    expect(check?.detail).toContain('no process of the program was seen to use the GPU');
  });
});

describe('time-slicing', () => {
  it('is proven on the bare driver, and refused where the process is a client of MPS', async () => {
    const { code, rounds } = await compare(['native', 'time-slicing'], '');
    expect(code).toBe(0);
    expect(rounds()[1]?.system.attestation).toContainEqual(
      expect.objectContaining({ proof: "a compute process of its own in NVML's list", passed: true }),
    );
    const shared = await compare(['native', 'time-slicing'], 'mps=1');
    expect(shared.code).toBe(5);
    expect(shared.rounds()[1]?.metrics[0]?.reason).toMatch(/is listed as a client of MPS|it is an MPS client/);
  });
});
