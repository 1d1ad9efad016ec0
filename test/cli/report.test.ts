import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../lib/answer/answer.js';
import { renderReport } from '../../lib/rendering.js';
import { type Format, formats } from '../../lib/report/formats.js';
import { jsonReport } from '../../lib/report/formats/json.js';
import { comparison, everyKind, measured } from '../unit/report/fixtures.js';
import { card, runDocument } from '../unit/run/fixtures.js';
import { command, emptyFolder, parseComparison } from './command.js';

const folder = emptyFolder();
let files = 0;

function saved(document: object): string {
  const file = join(folder, `${files++}.json`);
  writeFileSync(file, jsonReport(document).join(''));
  return file;
}

const everything = saved(everyKind());
const run = runDocument({ metrics: [measured('OH-001', 5, 0, 320), measured('OH-005', -0.5, 0)] });
const report = (...args: string[]) => command(['report', ...args]);

/** A committed reference file; `npx vitest run -u` rewrites it, and the diff must be reviewed. */
const golden = (name: string) => join(import.meta.dirname, '../golden', name);
/** Those that are not the format's name. */
const extensions: Partial<Record<Format, string>> = {
  markdown: 'md',
  junit: 'xml',
  openmetrics: 'prom',
  bencher: 'bencher.json',
};
const extensionOf = (format: Format): string => extensions[format] ?? format;

describe('every format', () => {
  it.each(formats)('of a comparison matches its golden file: %s', async (format) => {
    const { code, stdout, stderr } = await report(everything, '--format', format);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await expect(stdout).toMatchFileSnapshot(golden(`comparison.${extensionOf(format)}`));
  });

  it.each(formats)('of a run matches its golden file: %s', async (format) => {
    // The page as shipped, with the bundled chart library.
    const text = format === 'html' ? (await report(saved(run), '--html', '-')).stdout : await renderReport(run, format);
    await expect(text).toMatchFileSnapshot(golden(`run.${extensionOf(format)}`));
  });
});

describe('report', () => {
  it('prints Markdown by default', async () => {
    expect((await report(everything)).stdout).toBe((await report(everything, '--markdown', '-')).stdout);
  });

  it('writes files, and nothing to stdout then', async () => {
    const out = emptyFolder();
    const args = formats.flatMap((format) => [`--${format}`, join(out, format)]);
    expect(await report(everything, ...args)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(readdirSync(out).sort()).toEqual([...formats].sort());
    expect(parseComparison(readFileSync(join(out, 'json'), 'utf8'))).toEqual({ ...everyKind(), answer: answerOf(everyKind()) }); // prettier-ignore
  });

  it('prints the answer alone with --brief, beside files', async () => {
    const out = emptyFolder();
    const { code, stdout, stderr } = await report(everything, '--brief', '--csv', join(out, 'csv'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [decision] = stdout.split('\n');
    expect(decision).toBe(answerOf(everyKind()).decision);
    expect(stdout).toContain('What is not known:');
    expect(stdout.split('\n').length).toBeLessThan(60);
    expect(readdirSync(out)).toEqual(['csv']);
    const refused = await report(everything, '--brief', '--format', 'csv');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^error: Expected one format on standard output but received --brief and csv/);
  });

  it('reads the directory of a run', async () => {
    const directory = join(emptyFolder(), 'results');
    mkdirSync(directory);
    writeFileSync(join(directory, 'summary.json'), JSON.stringify(everyKind()));
    expect((await report(directory)).stdout).toBe((await report(everything)).stdout);
  });

  it('merges compatible documents and refuses others', async () => {
    const metrics = (round: number) => [measured('OH-001', 5, round)];
    const other = comparison([
      { name: 'native', metrics },
      { name: 'fcsp', metrics },
    ]);
    const systems = other.systems.map((rounds) => rounds.map((each) => ({ ...each, startedAt: '2026-02-01T00:00:00.000Z' }))); // prettier-ignore
    const { code, stdout } = await report(everything, saved({ ...other, systems }), '--format', 'json');
    expect(code).toBe(0);
    expect(parseComparison(stdout).plan.systems).toEqual(['native', 'hami-core', 'mps', 'fcsp']);
    const elsewhere = systems.map((rounds) =>
      rounds.map((each) => ({ ...each, gpu: [card({ name: 'NVIDIA A100' })] })),
    );
    const refused = await report(everything, saved({ ...other, systems: elsewhere }));
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^error: Expected documents of one GPU model but received NVIDIA Test in .*\n$/);
  });

  it('reports impossible values, shows no number for them, and exits 1', async () => {
    const gpu = [card({ name: 'NVIDIA GeForce RTX 3080', computeCapability: '8.6', multiprocessors: 68 })];
    const attention = { ...measured('OH-001', 9_191, 0), unit: 'TFLOPS', direction: 'higher' as const };
    const { code, stdout, stderr } = await report(saved(runDocument({ gpu, metrics: [attention] })));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^warning: environment, OH-001: impossible: \d+ TFLOPS, and NVIDIA GeForce RTX 3080 cannot/);
    expect(stdout).not.toMatch(/\| 9\d{3} \|/);
    expect(stdout).toContain('- environment, OH-001: invalid: impossible');
  });

  it('is complete for a run without a metric', async () => {
    for (const format of formats) expect(await renderReport(runDocument(), format)).toMatch(/./);
  });

  it('refuses two formats in one file, under any name, and a file it reads', async () => {
    const out = emptyFolder();
    symlinkSync(join(out, 'a'), join(out, 'link'));
    const refusedAs = async (args: string[], says: RegExp) => {
      const { code, stderr } = await report(...args);
      expect(code).toBe(2);
      expect(stderr).toMatch(says);
    };
    await refusedAs([everything, '--csv', join(out, 'a'), '--html', `${out}/./a`], /to be a file of its own/);
    await refusedAs([everything, '--csv', join(out, 'a'), '--html', join(out, 'link')], /Expected --/);
    await refusedAs([everything, '--csv', everything], /Expected --csv to be a file of its own/);
    expect(readdirSync(out)).toEqual(['link']);
    // A dangling link stays a link.
    expect((await report(everything, '--csv', join(out, 'link'))).code).toBe(0);
    expect(lstatSync(join(out, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(out, 'a'), 'utf8')).toMatch(/^system,/);
  });

  it.each([
    [['nowhere.json'], /Expected a result document but received 'nowhere\.json': there is no such file/],
    [[], /missing required argument 'file'/],
    [[everything, '--format', 'markdow'], /Expected --format to be a format but received 'markdow': did you mean/],
    [[everything, '--format', 'csv', '--html', '-'], /one format on standard output but received several/],
    [
      [everything, '--csv', 'x', '--html', 'x'],
      /Expected --csv|--html to be a file of its own but received 'x', which is named twice/,
    ],
    [[everything, '--html', '/nowhere/x.html'], /Expected --html to be a file that can be written/],
    [[everything, '--html', '--csv'], /Expected --html to be a file or - but received '--csv'/],
    [[everything, everything], /of different rounds but received the same ones in/],
  ])('refuses %j in one line', async (args, says) => {
    const { code, stdout, stderr } = await report(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
  });
});
