/** `compare` on the simulated GPU, with layers of known behaviour. */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { metrics } from '../../lib/metrics/registry.js';
import { interposerLibrary } from '../../lib/native/load.js';
import { command, emptyFolder, parseComparison, parseDocument, processesOf, start, systemOnCard } from './command.js';
import { expectRefusal, refused } from './refused.js';

const interposer = interposerLibrary() ?? '';
const sim = 'init_ms=8,context_ms=8';
const base = ['compare', '--simulate', '--tier', 'quick', '--seed', '1', '--json', '-'];

const compare = (args: readonly string[], output = emptyFolder()) =>
  command([...base, '--output', join(output, 'out'), ...args], {}, sim);

async function uuidOf(index: number): Promise<string> {
  const args = ['run', 'OH-002', '--simulate', '--iterations', '20', '--json', '-', '--device', `${index}`];
  return parseDocument((await command(args, {}, 'devices=2')).stdout).gpu[0]?.uuid as string;
}

describe('compare', () => {
  it('publishes no number for a layer that is not active, and exits 5', async () => {
    const systems = ['--system', 'native', '--system', `hami-core:library=${interposer},memory=10GiB`];
    const { code, stdout, stderr } = await compare(['OH-002', 'OH-005', ...systems, '--rounds', '2']);
    expect(code).toBe(5);
    expect(stderr).toContain('Stopped after round 1 of 2: nothing is left to compare (hami-core was not active).');
    const { systems: documents, effects, completed } = parseComparison(stdout);
    expect(completed).toBe(false);
    const layered = (documents[1] ?? []).flatMap(({ metrics }) => metrics);
    expect(layered).toHaveLength(2);
    for (const { status, reason, value, stats } of layered) {
      expect({ status, value, stats }).toEqual({ status: 'invalid', value: null, stats: null });
      expect(reason).toMatch(/^layer not active: .*190 are expected/);
    }
    for (const { verdict, ratio } of effects) expect({ verdict, ratio }).toEqual({ verdict: 'invalid', ratio: null });
  });

  it.each([
    ['hami-core', /hami-core: library not available: name it with library=FILE/],
    ['fcsp:mode=strict', /fcsp: library not available: name it with library=FILE/],
    ['hami-core:library=/nowhere/libvgpu.so', /'\/nowhere\/libvgpu\.so': there is no such file/],
  ])('refuses %s before the first round and exits 2', async (system, says) => {
    const folder = emptyFolder();
    const systems = ['--system', 'native', '--system', system];
    const args = [...base, '--output', join(folder, 'out'), 'OH-002', ...systems, '--rounds', '1'];
    const { code, stdout, stderr } = await refused(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: /m);
    expect(stderr).toMatch(says);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ['fcsp:mode=strict', 'library not available: name it with library=FILE'],
    ['hami-core:library=/nowhere/libvgpu.so', 'library not available: /nowhere/libvgpu.so: there is no such file'],
    [
      'custom:name=gone,env.LD_PRELOAD=/nowhere/layer.so',
      'library not available: /nowhere/layer.so: there is no such file',
    ],
  ])('reports %s as unsupported with --allow-missing, and measures the others', async (system, reason) => {
    const systems = ['--system', 'native', '--system', system, '--allow-missing'];
    const { code, stdout } = await compare(['OH-002', ...systems, '--rounds', '1', '--iterations', '40']);
    expect(code).toBe(0);
    const { systems: documents, effects } = parseComparison(stdout);
    expect(documents[0]?.[0]?.metrics[0]?.status).toBe('ok');
    expect(documents[1]?.[0]?.metrics[0]).toMatchObject({ status: 'unsupported', reason, value: null });
    expect(effects).toEqual([]);
  });

  it('stops after the first round if nothing is left to compare, unless --keep-going is given', async () => {
    const args = ['OH-002', '--system', 'native', '--system', 'fcsp', '--allow-missing', '--rounds', '3'];
    const stopped = await compare([...args, '--iterations', '20']);
    expect(stopped.code).toBe(2);
    const document = parseComparison(stopped.stdout);
    expect(document).toMatchObject({ completed: false, stopped: { because: 'missing' } });
    expect(document.systems.map(({ length }) => length)).toEqual([1, 1]);
    const text = 'Stopped after round 1 of 3: nothing is left to compare (fcsp is missing).';
    expect(document.warnings[0]).toContain(text);
    expect(stopped.stderr).toContain(text);
    const advice = /^Stopped: 2 of 6 rounds are finished\. Continue with: npx gpu-virt-bench (.*)$/m;
    const advised = advice.exec(stopped.stderr)?.[1]?.split(' ') ?? [];
    expect(advised.slice(0, 2)).toEqual(['compare', '--resume']);
    expect(await command(advised, {}, sim)).toMatchObject({ code: 0 });

    const all = await compare([...args, '--iterations', '20', '--keep-going']);
    expect(all.code).toBe(0);
    expect(parseComparison(all.stdout).systems.map(({ length }) => length)).toEqual([3, 3]);
  });

  it('publishes nothing for a custom system whose library intercepts nothing, unless that is expected', async () => {
    const inert = /\s(\/\S*libm[.-]\S*)$/m.exec(readFileSync('/proc/self/maps', 'utf8'))?.[1] ?? '';
    const of = (more: string) =>
      compare([
        ...['OH-002', '--rounds', '1', '--iterations', '20', '--system', 'native'],
        ...['--system', `custom:name=inert,env.LD_PRELOAD=${inert}${more}`],
      ]);
    const { code, stdout, stderr } = await of('');
    expect(code).toBe(5);
    const result = parseComparison(stdout).systems[1]?.[0]?.metrics[0];
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result?.reason).toMatch(/^layer not active: the named libraries intercept: .*interposes: false\.$/);
    expect(stderr).toMatch(/^warning: inert \(unverified\): layer not active: /m);

    const allowed = await of(',interposes=false');
    expect(allowed.code).toBe(0);
    const [round] = parseComparison(allowed.stdout).systems[1] ?? [];
    expect(round?.metrics[0]?.status).toBe('ok');
    expect(round?.warnings).toContainEqual(
      expect.stringMatching(/^inert \(unverified\): observed: nothing intercepts: /),
    );
  });

  it("measures all other rounds if a system's processes cannot start", async () => {
    const systems = ['--system', 'native', '--system', systemOnCard('broken', 'fail=cuInit:999@1')];
    const { code, stdout } = await compare(['OH-002', ...systems, '--rounds', '2', '--iterations', '20']);
    expect(code).toBe(1);
    const { completed, systems: documents, effects } = parseComparison(stdout);
    expect(completed).toBe(true);
    const outcomes = documents.map((rounds) => rounds.map(({ metrics }) => metrics[0]?.status));
    expect(outcomes).toEqual([
      ['ok', 'ok'],
      ['failed', 'failed'],
    ]);
    expect(documents[1]?.[0]?.metrics[0]?.reason).toMatch(/^cuInit returned CUDA_ERROR_UNKNOWN \(999\)/);
    expect(effects).toEqual([]);
  });

  it('refuses to overwrite a comparison', async () => {
    const folder = emptyFolder();
    const systems = ['--system', 'native', '--system', 'fcsp', '--allow-missing'];
    expect((await compare(['OH-002', ...systems, '--rounds', '1', '--iterations', '20'], folder)).code).toBe(0);
    const again = [...base, '--output', join(folder, 'out'), 'OH-002', ...systems];
    const { code, stdout, stderr } = await refused(again);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: Expected --output to be a directory without results but received .*--resume\.$/m);
  });

  it('continues an earlier run', async () => {
    const folder = emptyFolder();
    const output = join(folder, 'out');
    const systems = ['--system', 'native:name=a', '--system', 'native:name=b'];
    const args = ['compare', 'OH-002', '--simulate', '--tier', 'quick', '--seed', '1', ...systems];
    expect((await command([...args, '--rounds', '2', '--output', output], {}, sim)).code).toBe(0);
    rmSync(join(output, 'raw/round-0002-system-2.json'));
    const first = join(output, 'raw/round-0001-system-1.json');
    const before = statSync(first, { bigint: true }).mtimeNs;
    writeFileSync(join(output, 'raw/round-0001-system-2.json'), '{"half":');
    const { code, stderr } = await command(['compare', '--resume', output], {}, sim);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^warning: raw\/round-0001-system-2\.json is not a finished round of b: it is measured again\.$/m,
    );
    expect(statSync(first, { bigint: true }).mtimeNs).toBe(before);
    const { completed, systems: documents } = parseComparison(readFileSync(join(output, 'summary.json'), 'utf8'));
    expect(completed).toBe(true);
    expect(documents.map((rounds) => rounds.map(({ reused }) => reused))).toEqual([
      [true, true],
      [undefined, undefined],
    ]);
    expect(readdirSync(output).sort()).toEqual([
      'logs',
      'raw',
      'report.html',
      'report.md',
      'request.json',
      'summary.json',
      'systems.yaml',
    ]);
    expect(readdirSync(join(output, 'raw')).sort()).toEqual([
      'round-0001-system-1.json',
      'round-0001-system-2.json',
      'round-0002-system-1.json',
      'round-0002-system-2.json',
    ]);
  });

  it.each([
    ['1,0', [], 1, 'CUDA_VISIBLE_DEVICES=1,0'],
    ['UUID', [], 1, 'CUDA_VISIBLE_DEVICES=GPU-'],
    ['1,0', ['--device', '0'], 0, '--device'],
    [undefined, [], 0, 'the first GPU'],
  ])(
    'measures the first entry of CUDA_VISIBLE_DEVICES=%s with %j and prints the choice',
    async (visible, option, index, because) => {
      const args = ['compare', 'OH-002', '--simulate', '--tier', 'quick', '--rounds', '1', '--iterations', '10'];
      args.push('--system', 'native:name=a', '--system', 'native:name=b', '--json', '-', ...option);
      const list = visible === 'UUID' ? await uuidOf(1) : visible;
      const environment = list === undefined ? {} : { CUDA_VISIBLE_DEVICES: list };
      const { code, stdout, stderr } = await command(args, environment, `${sim},devices=2`);
      expect(code).toBe(0);
      const gpus = parseComparison(stdout).systems.flatMap((rounds) => rounds.map(({ gpu }) => gpu[0]));
      expect(gpus.map((gpu) => gpu?.index)).toEqual([index, index]);
      expect(stderr).toContain(`Device ${index}: ${gpus[0]?.name}, ${gpus[0]?.uuid} (${because}`);
    },
  );

  it.each([
    [['compare', 'OH-002', '--system', 'native:name=a', '--system', 'native:name=b'], '7'],
    [['run', 'OH-002'], '7'],
    [['run', 'OH-002'], ''],
    [['run', 'OH-002', '--device', '0'], '7'],
  ])('refuses %j with CUDA_VISIBLE_DEVICES=%j, which names no GPU', async (args, visible) => {
    const { code, stdout, stderr } = await command([...args, '--simulate'], { CUDA_VISIBLE_DEVICES: visible }, sim);
    expect(stderr).toMatch(/^error: Expected CUDA_VISIBLE_DEVICES to name a GPU of this machine but received (7|''):/m);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('stores the output of workers and layers, and its own messages', async () => {
    const output = join(emptyFolder(), 'out');
    const loud = 'custom:name=loud,prefix=sh,prefix=-c,prefix=echo a layer speaks >&2; exec "$@",prefix=sh';
    const args = ['compare', 'OH-002', '--simulate', '--tier', 'quick', '--rounds', '1', '--output', output];
    const { code, stderr } = await command([...args, '--system', 'native', '--system', loud], {}, sim);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const logs = join(output, 'logs');
    expect(readdirSync(logs).sort()).toEqual(['gpu-virt-bench.log', 'round-0001-system-2.log']);
    expect(readFileSync(join(logs, 'round-0001-system-2.log'), 'utf8')).toBe('a layer speaks\n');
    expect(readFileSync(join(logs, 'gpu-virt-bench.log'), 'utf8')).toMatch(/^\d{4}-\S+Z Plan: 2 systems/);
  });

  it('writes the finished rounds on SIGINT and leaves no process behind', async () => {
    const folder = emptyFolder();
    const systems = ['--system', 'native:name=a', '--system', 'native:name=b'];
    const run = start(
      ['compare', 'OH-001', '--simulate', '--iterations', '100000', ...systems, '--output', join(folder, 'out')],
      {},
      sim,
    );
    await run.said('Device 0');
    run.child.kill('SIGINT');
    const { code } = await run.done;
    expect(code).toBe(130);
    expect(readdirSync(join(folder, 'out')).sort()).toEqual(['logs', 'report.html', 'report.md', 'summary.json']);
    expect(parseComparison(readFileSync(join(folder, 'out/summary.json'), 'utf8')).completed).toBe(false);
    await expect.poll(() => processesOf(run.mark)).toEqual([]);
  });

  const dryRun = (...args: string[]) => command(['compare', '--dry-run', '--seed', '3', '--system', 'native', ...args]);
  const planOf = (name: string) =>
    new RegExp(`^Plan: 2 systems \\(native, ${name}\\) × 5 rounds × ${metrics.length} metrics .* about .*\n$`);

  it('only prints the plan with --dry-run', async () => {
    const { code, stdout, stderr } = await dryRun('--system', 'native:name=b');
    expect(stdout).toMatch(planOf('b'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('names the processes per round in the plan, and counts their time', async () => {
    const planned = async (tier: string) =>
      (await dryRun('--system', 'native:name=b', '--tier', tier, '--rounds', '1', 'OH-002', 'OH-004')).stdout;
    expect(await planned('quick')).not.toContain('processes per round');
    // 2 systems: 1 s to start, 1 s for OH-002 and 3 s for OH-004; then 15 more workers of 1 s, each with 0.1 s for OH-002.
    expect(await planned('standard')).toMatch(/, processes per round: OH-002 16, about 43 s\n$/);
  });

  it('refuses a system that cannot be measured with --dry-run too', async () =>
    expectRefusal(
      await dryRun('--system', 'hami-core'),
      /^error: Not every system can be measured here \(hami-core: library not available: name it with library=FILE\)\./,
    ));

  it('names a system that cannot be measured with --dry-run --allow-missing', async () => {
    const { code, stdout, stderr } = await dryRun('--system', 'fcsp', '--allow-missing');
    expect(stdout).toMatch(planOf('fcsp'));
    expect(stderr).toBe(
      'warning: fcsp cannot be measured here and would be kept as unsupported: library not available: name it with library=FILE\n',
    );
    expect(code).toBe(0);
  });
});
