/** `gate`, and `compare` with --baseline and --gate. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import type { GateDocument } from '../../lib/gate/document.js';
import { about, card, type Change, comparison, without } from '../unit/gate/fixtures.js';
import { commandIn, emptyFolder, hasDriver, parseComparison, start } from './command.js';
import { fullFolder } from './file-system.js';
import { expectRefusal, refused } from './refused.js';

const full = fullFolder();

const values = (value: number) => ({ native: { 'OH-001': about(5) }, layer: { 'OH-001': about(value) } });

/** a.json is 20 % worse than native, b.json equal; baseline main is b.json. */
function prepared(change: Change = {}): string {
  const folder = emptyFolder();
  const put = (file: string, value: number) =>
    writeFileSync(join(folder, file), JSON.stringify(comparison(values(value), change)));
  mkdirSync(join(folder, 'baselines'));
  put('a.json', 6);
  put('b.json', 5);
  put('baselines/main.json', 5);
  return folder;
}

describe('gate', () => {
  it('exits 3 with the reason, and lists failures first', async () => {
    const { code, stdout, stderr } = await commandIn(prepared(), ['gate', 'a.json']);
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    expect(stdout).toMatch(
      /^FAILED +OH-001 +layer +at most 10 % worse than native \(maxRegression: 10\) +× 1\.200 \(1\.\d+ … 1\.\d+\) is beyond it$/m,
    );
    expect(stdout).toMatch(/^Gate FAILED: 1 failed\.$/m);
  });

  it('exits 0 if every threshold is met', async () => {
    const folder = prepared();
    expect((await commandIn(folder, ['gate', 'b.json'])).code).toBe(0);
    writeFileSync(join(folder, 'gate.yaml'), 'maxRegression: 30\nmetrics:\n  OH-001: { limit: 7 }\n');
    const { code, stdout } = await commandIn(folder, ['gate', 'a.json', '--config', 'gate.yaml']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Gate passed: 2 passed\.$/m);
  });

  it('judges the newest complete result, and names it', async () => {
    const folder = prepared();
    mkdirSync(join(folder, 'results/x'), { recursive: true });
    writeFileSync(join(folder, 'results/x/summary.json'), readFileSync(join(folder, 'a.json')));
    expect(await commandIn(folder, ['gate'])).toMatchObject({ code: 3, stderr: 'Judging results/x.\n' });
    mkdirSync(join(folder, 'results/newer'));
    writeFileSync(join(folder, 'results/newer/summary.json'), '{');
    utimesSync(join(folder, 'results/x/summary.json'), 1, 1);
    const { code, stderr } = await commandIn(folder, ['gate']);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^warning: results\/newer is skipped: [^\n]*\nJudging results\/x\.\n$/);
    writeFileSync(join(folder, 'results/x/summary.json'), '');
    utimesSync(join(folder, 'results/x/summary.json'), 1, 1);
    expectRefusal(
      await commandIn(folder, ['gate']),
      /there is none \(results\/newer is skipped: .*; results\/x is skipped: /,
    );
  });

  it('compares with a stored baseline, and prints both environments and their differences', async () => {
    const folder = prepared();
    const slower = comparison(values(6), { round: { gpu: [card({ name: 'NVIDIA Other' })] } });
    writeFileSync(join(folder, 'c.json'), JSON.stringify(slower));
    const { code, stdout, stderr } = await commandIn(folder, ['gate', 'c.json', '--baseline', 'main']);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^This measurement: NVIDIA Other, .*\nBaseline main: NVIDIA Test, /m);
    expect(stdout).toMatch(
      /^FAILED +OH-001 +layer +at most 10 % worse than baseline main \(maxRegression: 10\) +× 1\.200 /m,
    );
    expect(stdout).toMatch(/^passed +OH-001 +native /m);
    expect(stderr).toMatch(
      /^warning: The GPU differs from the baseline's: NVIDIA Other, .* against NVIDIA Test, .*\n$/,
    );
  });

  it('writes JSON and JUnit to files, and to standard output without anything else', async () => {
    const folder = prepared();
    const files = await commandIn(folder, ['gate', 'a.json', '--json', 'gate.json', '--junit', 'gate.xml']);
    expect(files.code).toBe(3);
    const found = JSON.parse(readFileSync(join(folder, 'gate.json'), 'utf8')) as GateDocument;
    expect(found).toMatchObject({ kind: 'gate', passed: false, cases: [{ metric: 'OH-001', outcome: 'failed' }] });
    const junit = await commandIn(folder, ['gate', 'a.json', '--junit', '-']);
    expect(junit.stdout).toBe(readFileSync(join(folder, 'gate.xml'), 'utf8'));
    expect(XMLValidator.validate(junit.stdout)).toBe(true);
    expect(junit.stderr).toMatch(/^Gate FAILED/m);
    const json = await commandIn(folder, ['gate', 'a.json', '--json', '-']);
    expect(JSON.parse(json.stdout)).toEqual(found);
  });

  it.skipIf(full === null)('writes the outputs that can be written, and reports the others', async () => {
    const folder = prepared();
    const json = join(full as string, 'gate.json');
    const outputs = ['--json', json, '--junit', 'ok.xml'];
    const { code, stdout, stderr } = await commandIn(folder, ['gate', 'a.json', ...outputs]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^Gate FAILED: 1 failed\.$/m);
    expect(stderr).toContain(`error: Could not write '${json}': no space is left on its disk.\n`);
    expect(XMLValidator.validate(readFileSync(join(folder, 'ok.xml'), 'utf8'))).toBe(true);
    expect((await commandIn(folder, ['gate', 'b.json', '--json', json])).code).toBe(1);
  });

  it('exits 5 if a system was not shown to be active, for any thresholds', async () => {
    const folder = emptyFolder();
    const inactive = about(5).map(() => without('invalid', 'layer not active: nothing hooks'));
    const document = comparison({ native: { 'OH-001': about(5) }, layer: { 'OH-001': inactive } });
    writeFileSync(join(folder, 'a.json'), JSON.stringify(document));
    const { code, stdout } = await commandIn(folder, ['gate', 'a.json']);
    expect(code).toBe(5);
    expect(stdout).toMatch(/^Gate FAILED: 1 invalid\.$/m);
  });

  it('refuses one file for two outputs, under any name, and a file that it reads', async () => {
    const folder = prepared();
    symlinkSync('gx', join(folder, 'link'));
    symlinkSync('.', join(folder, 'here'));
    for (const [json, junit] of [
      ['gx', 'gx'],
      ['gx', './gx'],
      ['gx', join(folder, 'gx')],
      ['gx', 'link'],
      ['here/gx', 'gx'],
      ['x', './a.json'],
    ] as const) {
      const outcome = await refused(['gate', 'a.json', '--json', json, '--junit', junit], { cwd: folder });
      expectRefusal(outcome, /Expected --junit to be a file of its own but received .*, which is .*\.$/m);
    }
    expect(existsSync(join(folder, 'gx'))).toBe(false);
    const both = ['gate', 'b.json', '--json', '/dev/null', '--junit', '/dev/null'];
    expect((await commandIn(folder, both)).code).toBe(0);
  });

  it('fails with the reason if nothing of a system was judged', async () => {
    const folder = emptyFolder();
    const unsupported = about(5).map(() => without('unsupported', 'no MPS daemon'));
    const document = comparison({ native: { 'OH-001': about(5) }, mps: { 'OH-001': unsupported } });
    writeFileSync(join(folder, 'a.json'), JSON.stringify(document));
    const { code, stdout, stderr } = await commandIn(folder, ['gate', 'a.json', '--junit', 'gate.xml']);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^Gate FAILED: 1 not measured \(counts as failed\)\.$/m);
    expect(stderr).toMatch(/^warning: No metric of mps was checked, so the gate fails: unsupported: no MPS daemon\./);
    expect(readFileSync(join(folder, 'gate.xml'), 'utf8')).toMatch(
      /<failure type="not measured" message="unsupported: no/,
    );
  });

  it('judges a document with an arbitrary plan', async () => {
    const folder = emptyFolder();
    const plan = { ...comparison(values(5)).systems[0]?.[0]?.plan, options: { iterations: { toString: 1 } } } as never;
    writeFileSync(join(folder, 'a.json'), JSON.stringify(comparison(values(5), { round: { plan } })));
    expect(await commandIn(folder, ['gate', 'a.json'])).toMatchObject({ code: 0, stderr: '' });
    expect((await commandIn(folder, ['report', 'a.json', '--junit', '-'])).code).toBe(0);
  });

  it('fails on failed metrics, for any thresholds', async () => {
    const folder = emptyFolder();
    const failed = {
      native: { 'OH-001': about(5) },
      layer: { 'OH-001': [...about(5).slice(1), without('failed', 'x')] },
    };
    writeFileSync(join(folder, 'a.json'), JSON.stringify(comparison(failed)));
    const { code, stdout } = await commandIn(folder, ['gate', 'a.json']);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^FAILED +OH-001 +layer +measured +failed: x \(in 1 of 5 rounds\)$/m);
  });

  it.each<[string, string[], RegExp]>([
    ['an unknown baseline', ['b.json', '--baseline', 'mai'], /received 'mai': did you mean main\?$/m],
    ['a baseline that leads elsewhere', ['b.json', '--baseline', '../b'], /Expected the name of a baseline/],
    ['thresholds that are not there', ['b.json', '--config', 'x.yaml'], /Expected --config to be a YAML file/],
    [
      'a mistake in the thresholds',
      ['b.json', '--config', 'bad.yaml'],
      /bad\.yaml:2:19: .*'limt': did you mean limit\?$/m,
    ],
    [
      'a system that is not there',
      ['b.json', '--config', 'other.yaml'],
      /other\.yaml:1:11: .*'laier': did you mean layer\?$/m,
    ],
    [
      'both on standard output',
      ['b.json', '--json', '-', '--junit', '-'],
      /Expected one format on standard output but received several/,
    ],
    [
      'a file that cannot be written',
      ['b.json', '--junit', 'no/where.xml'],
      /Expected --junit to be a file that can be written/,
    ],
    ['an interrupted measurement', ['half.json'], /one that was interrupted: continue it with compare --resume/],
    [
      'a simulated baseline for a real GPU',
      ['b.json', '--baseline', 'sim'],
      /of a real GPU but received one of a simulated GPU/,
    ],
    ['a document that is none', ['bad.yaml'], /Expected a result document but received 'bad\.yaml'/],
    ['two documents', ['a.json', 'b.json'], /too many arguments/],
    [
      'an option for a value',
      ['b.json', '--json', '--junit'],
      /^error: Expected --json to be followed by <file> but received '--junit': give it, or leave --json out\.$/m,
    ],
    ['an option for thresholds', ['b.json', '--config', '--junit'], /Expected --config to be followed by <file>/],
    ['an option for a baseline', ['b.json', '--baseline', '--json'], /Expected --baseline to be followed by <name>/],
    ['an option for a store', ['b.json', '--store', '--json'], /Expected --store to be followed by <dir>/],
    ['an option for a JUnit file', ['b.json', '--junit', '--json'], /Expected --junit to be followed by <file>/],
  ])('refuses %s', async (_, args, says) => {
    const folder = prepared();
    const put = (file: string, text: string) => writeFileSync(join(folder, file), text);
    put('bad.yaml', 'metrics:\n  OH-001: { limt: 5 }\n');
    put('other.yaml', 'systems: [laier]\n');
    put('half.json', JSON.stringify(comparison(values(5), { document: { completed: false } })));
    put('baselines/sim.json', JSON.stringify(comparison(values(5), { round: { gpu: [card({ simulated: true })] } })));
    expectRefusal(await refused(['gate', ...args], { cwd: folder }), says);
  });
});

describe('compare with a gate', () => {
  const sim = 'init_ms=8,context_ms=8';
  const systems = ['--system', 'native', '--system', 'native:name=again'];
  const few = ['--tier', 'quick', '--iterations', '40', '--seed', '1', '--rounds', '2'];
  const args = ['compare', 'OH-002', '--simulate', ...few, ...systems];
  /** Thresholds that pass, and one that fails, however disturbed the few rounds are. */
  const [holds, fails] = ['{ limit: 1000000, maxRegression: 10000 }', '{ limit: -1000000 }'];

  it('measures, saves a baseline, and compares with it', async () => {
    const folder = emptyFolder();
    expect((await commandIn(folder, [...args, '--output', 'results/first'], sim)).code).toBe(0);
    expect((await commandIn(folder, ['baseline', 'save', 'main'])).code).toBe(0);
    writeFileSync(join(folder, 'gate.yaml'), `metrics: { OH-002: ${holds} }\n`);
    const judged = [...args, '--output', 'out', '--baseline', 'main', '--gate', 'gate.yaml', '--junit', 'gate.xml'];
    const { code, stdout } = await commandIn(folder, judged, sim);
    expect(code).toBe(0);
    expect(stdout).toMatch(/OH-002 Memory Allocation Latency[^]*^Baseline main: SIMULATED /m);
    expect(stdout).toMatch(/^Gate passed: /m);
    expect(XMLValidator.validate(readFileSync(join(folder, 'gate.xml'), 'utf8'))).toBe(true);

    writeFileSync(join(folder, 'gate.yaml'), `metrics: { OH-002: ${fails} }\n`);
    const failed = await commandIn(folder, [...args, '--output', 'out2', '--gate', 'gate.yaml', '--json', '-'], sim);
    expect(failed.code).toBe(3);
    expect(parseComparison(failed.stdout).completed).toBe(true);
    expect(failed.stderr).toMatch(/^FAILED +OH-002 +again +at most -1 ?000 ?000 us/m);
    // Results are kept, whatever the gate's outcome.
    expect(readdirSync(join(folder, 'out2'))).not.toEqual([]);
  });

  it.each<[string, string[], RegExp]>([
    [
      'one round',
      ['--baseline', 'main', '--rounds', '1'],
      /at least 2 rounds for a gate but received 1, .*--rounds 5\.$/m,
    ],
    ['an unknown baseline', ['--baseline', 'mai'], /did you mean main\?$/m],
    ['a mistake in the thresholds', ['--gate', 'bad.yaml'], /bad\.yaml:1:16: /],
    [
      'a system of the thresholds that is not compared',
      ['--gate', 'other.yaml'],
      /other\.yaml:1:11: .*'agan': did you mean again\?$/m,
    ],
    [
      'a baseline of other systems',
      ['--baseline', 'other'],
      /Expected a system of baseline other \(x, y\) but received native, again/,
    ],
    [
      'a baseline of another kind',
      ['--baseline', 'kind'],
      /Expected native to be of kind custom, as in baseline kind, but received native/,
    ],
    [
      'a JUnit file that cannot be written',
      ['--baseline', 'main', '--junit', 'no/where.xml'],
      /Expected --junit to be a file/,
    ],
    [
      'one file for two outputs',
      ['--baseline', 'main', '--json', 'same', '--junit', './same'],
      /Expected --junit to be a file of its own but received '\.\/same'/,
    ],
    [
      'a JUnit file over its thresholds',
      ['--gate', 'bad.yaml', '--junit', './good.yaml', '--gate', 'good.yaml'],
      /Expected --junit to be a file of its own but received '\.\/good\.yaml', which is 'good\.yaml'/,
    ],
    ['a store of nothing', ['--store', 'x'], /Expected --store together with --baseline/],
    ['an option for thresholds', ['--gate', '--baseline'], /Expected --gate to be followed by <file>/],
    ['an option for a baseline', ['--baseline', '--gate'], /Expected --baseline to be followed by <name>/],
    ['an option for a configuration', ['--config', '--gate'], /Expected --config to be followed by <file>/],
  ])('refuses %s, before anything is measured', async (_, more, says) => {
    const folder = prepared();
    const put = (file: string, text: string) => writeFileSync(join(folder, file), text);
    put('bad.yaml', 'maxRegression: much\n');
    put('good.yaml', 'maxRegression: 5\n');
    put('other.yaml', 'systems: [agan]\n');
    const x = { 'OH-001': about(5) };
    put('baselines/other.json', JSON.stringify(comparison({ x, y: x })));
    const kind = { round: { system: { name: 'native', kind: 'custom', settings: {}, attestation: [] } } };
    put('baselines/kind.json', JSON.stringify(comparison({ native: x }, kind)));
    expectRefusal(await refused([...args, '--output', 'out', ...more], { cwd: folder, sim }), says);
    expect(existsSync(join(folder, 'out'))).toBe(false);
  });

  it('writes its JUnit file even if the reader of standard output closes it', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'gate.yaml'), `metrics: { OH-002: ${fails} }\n`);
    const outputs = ['--output', 'out', '--gate', 'gate.yaml', '--junit', 'gate.xml', '--json', '-'];
    const run = start([...args, ...outputs], {}, sim, folder);
    run.child.stdout?.destroy();
    expect((await run.done).code).toBe(3);
    expect(readFileSync(join(folder, 'gate.xml'), 'utf8')).toMatch(/<failure type="failed"/);
    expect(existsSync(join(folder, 'out/summary.json'))).toBe(true);
  });

  it("prints the gate's JUnit if that format is requested", async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'gate.yaml'), `metrics: { OH-002: ${fails} }\n`);
    const printed = await commandIn(folder, [...args, '--gate', 'gate.yaml', '--format', 'junit'], sim);
    expect(printed.code).toBe(3);
    expect(XMLValidator.validate(printed.stdout)).toBe(true);
    expect(printed.stdout).toMatch(/at most -1 ?000 ?000 us/);
    expect(printed.stderr).toMatch(/OH-002 Memory Allocation Latency[^]*^Gate FAILED/m);
  });

  it('keeps the results if the gate fails because nothing of a system was judged', async () => {
    const folder = emptyFolder();
    const unmeasured = ['compare', 'OH-008', '--simulate', '--tier', 'quick', '--rounds', '2', ...systems];
    writeFileSync(join(folder, 'gate.yaml'), 'missing: pass\n');
    const gated = [...unmeasured, '--output', 'out', '--gate', 'gate.yaml', '--junit', 'gate.xml'];
    const { code, stderr } = await commandIn(folder, gated, sim);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^warning: No metric of again was checked, so the gate fails: unsupported: /m);
    expect(readFileSync(join(folder, 'gate.xml'), 'utf8')).toMatch(/<failure type="not measured"/);
    expect(parseComparison(readFileSync(join(folder, 'out/summary.json'), 'utf8')).completed).toBe(true);
  });

  it('leaves no earlier JUnit file if it is refused during the run', async () => {
    const folder = prepared();
    writeFileSync(join(folder, 'gate.xml'), '<testsuites/>');
    const unlike = [...args, '--output', 'out', '--baseline', 'main', '--junit', 'gate.xml'];
    expect((await commandIn(folder, unlike, sim)).code).toBe(2);
    expect(readFileSync(join(folder, 'gate.xml'), 'utf8')).toMatch(
      /<error type="refused" message="Expected baseline main to be of a/,
    );
  });

  it.each([
    ['compare', ['--system', 'native', '--system', 'nativ']],
    ['compare', ['--system', 'native', '--no-such-option']],
    ['run', ['OH-999']],
    ['report', ['/nowhere.json']],
    ['gate', ['/nowhere.json']],
  ])('leaves no earlier JUnit file if %s %j is refused at the start', async (name, wrong) => {
    const folder = emptyFolder();
    for (const junit of [['--junit', 'gate.xml'], ['--junit=gate.xml']]) {
      writeFileSync(join(folder, 'gate.xml'), '<?xml version="1.0"?>\n<testsuites tests="1"/>');
      expect((await refused([name, ...wrong, ...junit], { cwd: folder })).code).toBe(2);
      const text = readFileSync(join(folder, 'gate.xml'), 'utf8');
      expect(XMLValidator.validate(text)).toBe(true);
      expect(text).toMatch(/errors="1"[^]*<error type="refused" message="/);
    }
  });

  it('does not overwrite another kind of file if it refuses --junit', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'gate.yaml'), 'missing: pass\n');
    const args = ['compare', '--simulate', ...systems, '--gate', 'gate.yaml', '--junit', 'gate.yaml'];
    expectRefusal(await refused(args, { cwd: folder }), /--junit to be a file of its own/);
    expect(readFileSync(join(folder, 'gate.yaml'), 'utf8')).toBe('missing: pass\n');
  });

  it('does not judge an interrupted run, and says so in its JUnit file', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'gate.xml'), '<testsuites/>');
    writeFileSync(join(folder, 'gate.yaml'), 'metrics: { OH-001: { limit: 0 } }\n');
    const long = ['compare', 'OH-001', '--simulate', '--iterations', '100000', ...systems, '--gate', 'gate.yaml'];
    long.push('--junit', 'gate.xml');
    const run = start(long, {}, sim, folder);
    await run.said('Device 0');
    run.child.kill('SIGINT');
    const { code, stderr } = await run.done;
    expect(code).toBe(130);
    expect(stderr).toMatch(/^The gate was not checked because the measurement was interrupted\.$/m);
    const junit = readFileSync(join(folder, 'gate.xml'), 'utf8');
    expect(XMLValidator.validate(junit)).toBe(true);
    expect(junit).toMatch(/errors="1"[^]*<error type="interrupted" message="The gate was not checked/);
  });

  it('refuses a baseline of a real GPU for a simulated one, before a metric is measured', async () => {
    const folder = prepared();
    const run = start([...args, '--output', 'out', '--baseline', 'main'], {}, sim, folder);
    const { code, stdout, stderr } = await run.done;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: Expected baseline main to be of a simulated GPU but received one of a real GPU/m);
    expect(existsSync(join(folder, 'out'))).toBe(false);
  });

  it.skipIf(hasDriver)('also refuses it if the simulation was not requested', async () => {
    const folder = prepared();
    const unasked = args.filter((arg) => arg !== '--simulate');
    expect((await commandIn(folder, [...unasked, '--output', 'out', '--baseline', 'main'], sim)).code).toBe(2);
  });
});
