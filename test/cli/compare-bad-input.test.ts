/** The input that `compare` refuses, and the results that it saves if it cannot continue as requested. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import { cardIn, command, emptyFolder, parseComparison, parseDocument, processesOf, root, start } from './command.js';
import { fileSystem, fullFolder } from './file-system.js';
import { expectRefusal, refused } from './refused.js';

const interposer = interposerLibrary() ?? '';
const sim = 'init_ms=8,context_ms=8';
const isRoot = process.getuid?.() === 0;
const two = ['--system', 'native:name=a', '--system', 'native:name=b'];
const quick = ['compare', 'OH-002', '--simulate', '--tier', 'quick', '--iterations', '40', '--seed', '1'];

/** The contents of a folder, by file. */
const contents = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'utf8')]),
  );

/** Enough space for one round, but not for two. */
const small = fileSystem('size=96k');
const full = fullFolder();
const readOnly = isRoot ? fileSystem('ro,size=64k') : unwritableFolder();

function unwritableFolder(): string {
  const folder = emptyFolder();
  chmodSync(folder, 0o555);
  return folder;
}

describe('compare refuses', () => {
  it.each([
    [['--system', 'native'], /at least two systems to compare but received 1/],
    [['--system', 'native', '--system', 'native'], /systems of different names but received native twice/],
    [
      ['--system', 'native', '--system', 'hami-cor'],
      /a kind of system but received 'hami-cor': did you mean hami-core/,
    ],
    [['--system', 'native', '--system', 'hami-core:library=/nowhere.so'], /\/nowhere\.so': there is no such file/],
    [['--system', 'native', '--system', 'hami-core:library=/etc/passwd'], /\/etc\/passwd': it is not an ELF file/],
    [['--system', 'native', '--system', 'hami-core:memory=4Gigs'], /a size above 0 .* received '4Gigs'/],
    [['--system', 'native', '--system', 'fcsp:memory=0'], /a size above 0 .* received 0/],
    [['--system', 'native', '--system', 'fcsp', '--rounds', '0'], /--rounds to be an integer from 1/],
    [['--system', 'native', '--system', 'fcsp', '--resume', '/nowhere'], /--resume to be the directory/],
    [['--system', 'native', '--system', 'native:name=b', '--output', '/dev/null/x'], /--output to be a directory/],
    [['--config', '/nowhere.yaml'], /\/nowhere\.yaml/],
  ])('%j', async (args, says) => expectRefusal(await refused(['compare', '--simulate', ...args]), says));

  it('a mistake in the YAML, by line and column', async () => {
    const file = join(emptyFolder(), 'systems.yaml');
    writeFileSync(file, 'systems:\n  - native\n  - name: x\n    kind: hami-core\n    memroy: 4GiB\n');
    expectRefusal(await refused(['compare', '--simulate', '--config', file]), /systems\.yaml:5:13: .*memroy/);
  });

  it('a library for another machine type', async () => {
    const library = join(emptyFolder(), 'libvgpu.so');
    const bytes = readFileSync(interposer);
    bytes.writeUInt16LE(process.arch === 'arm64' ? 62 : 183, 18);
    writeFileSync(library, bytes);
    const outcome = await refused([...quick, '--system', 'native', '--system', `hami-core:library=${library}`]);
    expectRefusal(outcome, /libvgpu\.so': it is built for (arm64|x64), this machine is (x64|arm64)\.$/m);
  });

  it.skipIf(isRoot)('an unreadable library (not as root, who can read everything)', async () => {
    const library = join(emptyFolder(), 'libvgpu.so');
    copyFileSync(interposer, library);
    chmodSync(library, 0o000);
    const outcome = await refused([...quick, '--system', 'native', '--system', `hami-core:library=${library}`]);
    expectRefusal(outcome, /libvgpu\.so': it cannot be read\.$/m);
  });

  it('more memory than the card has, and leaves no folder or worker behind', async () => {
    const folder = emptyFolder();
    const systems = ['--system', 'native', '--system', `hami-core:library=${interposer},memory=900GiB`];
    const run = start([...quick, ...systems, '--output', join(folder, 'out')]);
    expectRefusal(await run.done, /memory of hami-core to be at most the card's \d+ MiB but received 921600 MiB\./);
    expect(readdirSync(folder)).toEqual([]);
    await expect.poll(() => processesOf(run.mark)).toEqual([]);
  });

  it.each(['--output', '--resume'])('a file as the directory of %s', async (option) => {
    const file = join(emptyFolder(), 'file');
    writeFileSync(file, 'kept');
    expectRefusal(await refused([...quick, ...two, option, file]), new RegExp(`Expected ${option} to be .*directory`));
    expect(readFileSync(file, 'utf8')).toBe('kept');
  });

  it.skipIf(readOnly === null).each([
    ['--output', '.'],
    ['--output', 'far/below'],
  ])(
    'a directory of %s that cannot be written, at %s (as root only where mounting is permitted)',
    async (option, name) => {
      const outcome = await refused([...quick, ...two, option, join(readOnly as string, name)]);
      expectRefusal(outcome, /to be a directory that can be written .* (read-only|permission denied)\.$/m);
    },
  );
});

describe('compare --resume', () => {
  let earlier: string;
  let layer: string;
  const custom = (delay: string) => `custom:name=b,env.LD_PRELOAD=${layer},env.GVB_INTERPOSE=cuLaunchKernel=+${delay}`;
  beforeAll(async () => {
    earlier = join(emptyFolder(), 'out');
    layer = join(emptyFolder(), 'layer.so');
    copyFileSync(interposer, layer);
    const systems = ['--system', 'native:name=a', '--system', custom('1500ns')];
    const ended = await command([...quick, ...systems, '--rounds', '1', '--output', earlier], {}, sim);
    expect(ended).toMatchObject({ code: 0 });
  });

  /** A run directory as if the run was killed before its last round. */
  function interrupted(): string {
    const folder = join(emptyFolder(), 'out');
    cpSync(earlier, folder, { recursive: true });
    rmSync(join(folder, 'raw/round-0001-system-1.json'));
    rmSync(join(folder, 'summary.json'));
    return folder;
  }

  it('without other options continues the same request, and marks and counts the reused rounds', async () => {
    const folder = interrupted();
    const before = readFileSync(join(folder, 'raw/round-0001-system-2.json'), 'utf8');
    const { code, stderr } = await command(['compare', '--resume', folder], {}, sim);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain('warning: 1 of 2 rounds were measured before --resume and are reused.');
    const { systems, plan, completed } = parseComparison(readFileSync(join(folder, 'summary.json'), 'utf8'));
    expect(completed).toBe(true);
    expect(plan).toMatchObject({
      tier: 'quick',
      seed: 1,
      rounds: 1,
      metrics: ['OH-002'],
      systems: ['a', 'b (unverified)'],
    });
    const report = readFileSync(join(folder, 'report.md'), 'utf8');
    expect(report).toContain('1 of 2 rounds were measured before --resume and are reused.');
    expect(systems.map((rounds) => rounds.map(({ reused }) => reused))).toEqual([[undefined], [true]]);
    expect(systems[0]?.[0]?.plan.options).toMatchObject({ iterations: 40 });
    expect(readFileSync(join(folder, 'raw/round-0001-system-2.json'), 'utf8')).toBe(before);
  });

  it('measures a failed round again', async () => {
    const folder = interrupted();
    const file = join(folder, 'raw/round-0001-system-2.json');
    const document = parseDocument(readFileSync(file, 'utf8'));
    Object.assign(document.metrics[0] ?? {}, {
      status: 'failed',
      value: null,
      ci95: null,
      stats: null,
      reason: 'timed out',
    });
    writeFileSync(file, JSON.stringify(document));
    const { code, stderr } = await command(['compare', '--resume', folder], {}, sim);
    expect(stderr).toMatch(/^warning: raw\/round-0001-system-2\.json failed: it is measured again\.$/m);
    expect(code).toBe(0);
    expect(parseDocument(readFileSync(file, 'utf8')).metrics[0]?.status).toBe('ok');
  });

  it('measures a round again if its worker was not checked afterwards', async () => {
    const folder = interrupted();
    const file = join(folder, 'raw/round-0001-system-2.json');
    const document = parseDocument(readFileSync(file, 'utf8'));
    document.system.notCheckedAfter = 'a worker could not be checked after it measured OH-002: it had ended';
    writeFileSync(file, JSON.stringify(document));
    const { code, stderr } = await command(['compare', '--resume', folder], {}, sim);
    expect(stderr).toMatch(/^warning: raw\/round-0001-system-2\.json was not attested: it is measured again\.$/m);
    expect(stderr).not.toContain('are reused');
    expect(code).toBe(0);
    const again = parseDocument(readFileSync(file, 'utf8'));
    expect(again.startedAt).not.toBe(document.startedAt);
    expect(again.system.notCheckedAfter).toBeUndefined();
  });

  it('continues a comparison with a missing system', async () => {
    const folder = join(emptyFolder(), 'out');
    const systems = ['--system', 'native', '--system', 'hami-core:library=/nowhere/libvgpu.so', '--allow-missing'];
    expect((await command([...quick, ...systems, '--rounds', '1', '--output', folder], {}, sim)).code).toBe(0);
    rmSync(join(folder, 'raw/round-0001-system-1.json'));
    rmSync(join(folder, 'summary.json'));
    const { code, stderr } = await command(['compare', '--resume', folder], {}, sim);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { systems: documents } = parseComparison(readFileSync(join(folder, 'summary.json'), 'utf8'));
    expect(documents.map(([round]) => round?.metrics[0]?.status)).toEqual(['ok', 'unsupported']);
  });

  it.each<[string, () => string[], RegExp]>([
    ['another number of rounds', () => ['--rounds', '3'], /its --rounds was 1, and now 3;/],
    ['another tier', () => ['--tier', 'standard'], /its --tier was quick, and now standard;/],
    ['an option that was not there', () => ['--warmup', '7'], /its --warmup was not given, and now 7;/],
    ['other metrics', () => ['OH-001'], /its metrics were OH-002, and now OH-001;/],
    [
      'another variable of a layer',
      () => ['--system', 'native:name=a', '--system', custom('9000ns')],
      /its systems had other settings/,
    ],
  ])('refuses %s', async (_, change, says) => {
    const folder = interrupted();
    const before = contents(folder);
    expectRefusal(await refused(['compare', ...change(), '--resume', folder], { sim }), says);
    expect(contents(folder)).toEqual(before);
  });

  it('accepts repeated settings, and options that do not affect finished rounds', async () => {
    const again = [...quick, '--system', 'native:name=a', '--system', custom('1500ns'), '--rounds', '1'];
    again.push('--keep-going', '--allow-missing');
    expect((await command([...again, '--dry-run', '--resume', interrupted()], {}, sim)).code).toBe(0);
  });

  it('refuses a layer that was rebuilt at the same path', async () => {
    const folder = interrupted();
    const bytes = readFileSync(layer);
    try {
      writeFileSync(layer, Buffer.concat([bytes, Buffer.from('another build')]));
      expectRefusal(
        await refused(['compare', '--resume', folder], { sim }),
        /its file .*layer\.so of system 2 was SHA-256 [0-9a-f]{12}…, and now SHA-256 [0-9a-f]{12}…; restore it/,
      );
    } finally {
      writeFileSync(layer, bytes);
    }
  });

  it('refuses another simulated card', async () => {
    const outcome = await refused(['compare', '--resume', interrupted()], { sim: `${sim},launch_ns=9000` });
    expectRefusal(outcome, /its environment was GVB_SIM=.*init_ms=8,context_ms=8, and now .*launch_ns=9000/);
  });

  it('refuses a directory without a request', async () =>
    expectRefusal(await refused(['compare', '--resume', emptyFolder()]), /it has no request\.json that can be read/));

  it('stores no secret, and then refuses to continue', async () => {
    const folder = join(emptyFolder(), 'out');
    const systems = ['--system', 'native', '--system', 'custom:name=x,env.MY_TOKEN=hunter2'];
    const { code, stderr } = await command([...quick, ...systems, '--rounds', '1', '--output', folder], {}, sim);
    expect(code).toBe(0);
    expect(stderr).toContain('env.MY_TOKEN is secret and not recorded, so this comparison cannot be continued');
    expect(Object.values(contents(folder)).join()).not.toContain('hunter2');
    const says = /env\.MY_TOKEN of its systems is secret and was not recorded, .*; start again with --output/;
    expectRefusal(await refused(['compare', '--resume', folder], { sim }), says);
    const again = ['--system', 'native', '--system', 'custom:name=x,env.MY_TOKEN=another'];
    expectRefusal(await refused([...quick, ...again, '--rounds', '1', '--resume', folder], { sim }), says);
  });

  it('refuses a second comparison in the same directory while the first runs, and names its PID', async () => {
    const folder = join(emptyFolder(), 'out');
    const long = ['compare', 'OH-001', '--simulate', '--iterations', '100000', ...two, '--output', folder];
    const first = start(long, {}, sim);
    await first.said('Device 0');
    expectRefusal(await refused(long, { sim }), new RegExp(`PID ${first.child.pid} is writing to it; wait for it`));
    first.child.kill('SIGKILL');
    await first.done;
    const second = start(long, {}, sim);
    await second.said('Device 0');
    second.child.kill('SIGINT');
    expect((await second.done).code).toBe(130);
    expect(readdirSync(folder)).not.toContain('.lock');
  });

  type Raw = Record<string, never> & {
    gpu: [{ simulated: boolean; name: string; uuid: string }];
    driver: { version: string };
  };
  const edits: Record<string, [(document: Raw) => unknown, RegExp]> = {
    'measured on a real GPU': [
      ({ gpu }) => (gpu[0].simulated = false),
      /the same GPU as this one \(simulated Simulated GPU .*\) but received one with real Simulated GPU/,
    ],
    'measured on another card of that model': [
      ({ gpu }) => (gpu[0].uuid = 'GPU-other'),
      /but received one with simulated Simulated GPU .*, GPU-other:/,
    ],
    'measured on another GPU': [
      ({ gpu }) => (gpu[0].name = 'NVIDIA H200'),
      /\(simulated Simulated GPU .*\) but received one with simulated NVIDIA H200, GPU/,
    ],
    'measured under another driver': [
      ({ driver }) => (driver.version = '1.2.3'),
      /the same driver as this one \(.+\) but received one with 1\.2\.3:/,
    ],
    'of another schema': [
      (document) => Object.assign(document, { schemaVersion: 1 }),
      /schema version 3 but received version 1 in '.*round-0001-system-2\.json'/,
    ],
  };
  it.each(Object.entries(edits))('refuses a round %s, before measuring', async (_, [edit, says]) => {
    const folder = join(emptyFolder(), 'out');
    cpSync(earlier, folder, { recursive: true });
    const file = join(folder, 'raw/round-0001-system-2.json');
    const document = JSON.parse(readFileSync(file, 'utf8')) as Raw;
    edit(document);
    writeFileSync(file, JSON.stringify(document));
    const before = contents(folder);
    expectRefusal(await refused(['compare', '--resume', folder], { sim }), says);
    expect(contents(folder)).toEqual(before);
  });
});

describe('compare saves its results', () => {
  const report = /OH-002 Memory Allocation Latency/;

  it.skipIf(small === null)('from a full disk (where mounting is permitted)', async () => {
    const output = join(small as string, 'out');
    const json = join(emptyFolder(), 'x.json');
    const args = [...quick, '--samples', '--rounds', '2', ...two, '--output', output, '--json', json];
    const run = start(args, {}, sim);
    const { code, stdout, stderr } = await run.done;
    expect(code).toBe(1);
    expect(stdout).toMatch(report);
    expect(parseComparison(readFileSync(json, 'utf8'))).toMatchObject({ completed: true, effects: [{ rounds: 2 }] });
    expect(readdirSync(join(output, 'raw'))).toEqual(['round-0001-system-1.json']);
    expect(parseDocument(readFileSync(join(output, 'raw/round-0001-system-1.json'), 'utf8')).completed).toBe(true);
    const errors = stderr.match(/^error: .*$/gm);
    expect(errors).toEqual([
      expect.stringMatching(
        /Could not write '.*round-0001-system-2\.json': no space is left on its disk\. \d more could not be written\./,
      ),
    ]);
    expect(stderr.trimEnd().endsWith(errors?.[0] as string)).toBe(true);
    await expect.poll(() => processesOf(run.mark)).toEqual([]);
  });

  it.skipIf(full === null)('if the --json target cannot be written', async () => {
    const output = join(emptyFolder(), 'out');
    const json = join(full as string, 'compare.json');
    const args = [...quick, '--rounds', '1', ...two, '--output', output, '--json', json];
    const { code, stdout, stderr } = await command(args, {}, sim);
    expect(code).toBe(1);
    expect(stdout).toMatch(report);
    expect(stderr.match(/^error: .*$/gm)).toEqual([
      expect.stringContaining(`error: Could not write '${json}': no space is left on its disk.`),
    ]);
    expect(parseComparison(readFileSync(join(output, 'summary.json'), 'utf8')).completed).toBe(true);
  });

  it.skipIf(full === null)('if the --json target of run cannot be written, and the JUnit file can', async () => {
    const junit = join(emptyFolder(), 'x.xml');
    const json = join(full as string, 'run.json');
    const args = ['run', 'OH-002', '--simulate', '--iterations', '10', '--json', json, '--junit', junit];
    const { code, stdout, stderr } = await command(args, {}, sim);
    expect(code).toBe(1);
    expect(stdout).toMatch(report);
    expect(stderr.match(/^error: .*$/gm)).toEqual([`error: Could not write '${json}': no space is left on its disk.`]);
    expect(readFileSync(junit, 'utf8')).toContain('OH-002');
  });

  it('if standard output cannot be written', () => {
    const output = join(emptyFolder(), 'out');
    const args = [join(root, 'dist/cli/main.js'), ...quick, '--rounds', '1', ...two, '--output', output];
    const { status, stderr } = spawnSync(process.execPath, args, {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      env: { ...process.env, GVB_SIM: cardIn(`full-${process.pid}`, sim) },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr.match(/^error: .*$/gm)).toEqual([
      expect.stringMatching(/Could not write standard output: no space is left on its disk\./),
    ]);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(parseComparison(readFileSync(join(output, 'summary.json'), 'utf8')).completed).toBe(true);
  });

  it("if a system's teardown fails, and tears the others down", async () => {
    const folder = emptyFolder();
    const config = join(folder, 'systems.yaml');
    const system = (name: string, teardown: string[]) => ({ kind: 'custom', name, teardown: [teardown] });
    const touched = join(folder, 'taken-down');
    const systems = [system('stays', ['false']), system('goes', ['touch', touched])];
    writeFileSync(config, JSON.stringify({ systems }));
    const args = [...quick, '--rounds', '1', '--config', config, '--output', join(folder, 'out'), '--json', '-'];
    const { code, stdout, stderr } = await command(args, {}, sim);
    expect(code).toBe(0);
    const { effects, warnings } = parseComparison(stdout);
    expect(effects).toHaveLength(1);
    expect(warnings).toContainEqual(expect.stringMatching(/^stays \(unverified\): teardown failed: .*false/));
    expect(stderr).toMatch(/^warning: stays \(unverified\): teardown failed/m);
    expect(existsSync(touched)).toBe(true);
  });
});
