/** A layer that is active only in the first processes: results of the others are not published under its name. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import { onOneProcessor } from '../processors.js';
import { command, emptyFolder, parseComparison } from './command.js';

const interposer = interposerLibrary() ?? '';

/** Starts its arguments under the interposer `processes` times, and without it from then on. */
function firstOnly(folder: string, processes: number): string {
  const script = join(folder, 'first-only.sh');
  const state = join(folder, 'started');
  writeFileSync(
    script,
    `echo >>${state}\n[ "$(wc -l <${state})" -gt ${processes} ] && exec env -u LD_PRELOAD "$@"\nexec "$@"\n`,
  );
  return script;
}

async function compare(metric: string, processes: number, rounds = '1', more: readonly string[] = []) {
  const folder = emptyFolder();
  const layer = `custom:name=fickle,env.LD_PRELOAD=${interposer},env.GVB_INTERPOSE=cuMemAlloc_v2=+1us`;
  const prefix = `prefix=sh,prefix=${firstOnly(folder, processes)}`;
  const systems = ['--system', 'native', '--system', `${layer},${prefix}`];
  const quick = ['--simulate', '--tier', 'quick', '--iterations', '3', '--rounds', rounds, '--seed', '1'];
  const output = ['--output', join(folder, 'out'), '--json', '-', ...more];
  return {
    folder,
    ...(await command(['compare', metric, ...quick, ...systems, ...output], {}, 'init_ms=8,context_ms=8')),
  };
}

const CONCURRENT = ['START-006', 3] as const;

describe('a layer that is active only in the first processes', () => {
  it.each([
    ['START-001', 2],
    ...(onOneProcessor('START-006 under a layer that is on in the first processes only') ? [] : [CONCURRENT]),
    ['OH-009', 1],
    ['OH-010', 1],
  ] as const)('has no number of %s', async (metric, processes) => {
    const { code, stdout, stderr, folder } = await compare(metric, processes);
    expect(code).toBe(5);
    const { systems, effects } = parseComparison(stdout);
    const round = systems[1]?.[0];
    const result = round?.metrics[0];
    expect(result).toMatchObject({ status: 'invalid', value: null, stats: null, details: {} });
    expect(result?.reason).toMatch(/^layer not active: /);
    const { proven, of } = round?.system.processes ?? { proven: 0, of: 0 };
    expect(proven).toBeLessThan(of);
    for (const { verdict, difference, ratio } of effects)
      expect({ verdict, difference, ratio }).toEqual({ verdict: 'invalid', difference: null, ratio: null });
    expect(stderr).toMatch(/^warning: fickle \(unverified\): layer not active: /m);
    const report = readFileSync(join(folder, 'out/report.md'), 'utf8');
    expect(report).toMatch(new RegExp(`confirmed in ${proven} of ${of} processes`));
  });

  it.each([
    [[], true],
    [['--keep-going'], false],
  ])('is not measured in further rounds, with %j', async (more, givenUp) => {
    // Two rounds, of which the second would work; the first round's document shows that the layer was not active.
    const { code, stdout, stderr } = await compare('START-001', 2, '2', more);
    expect(code).toBe(5);
    const { systems, completed, stopped } = parseComparison(stdout);
    const [first, second] = systems[1] ?? [];
    expect(first?.metrics[0]?.reason).toMatch(/^layer not active: /);
    expect(second?.metrics[0]?.status).toBe(givenUp ? undefined : 'invalid');
    expect({ completed, because: stopped?.because }).toEqual(
      givenUp ? { completed: false, because: 'not active' } : { completed: true },
    );
    expect(stderr.includes('Stopped after round 1 of 2: nothing is left to compare (fickle')).toBe(givenUp);
    expect(/^warning: fickle \(unverified\): its further rounds are not measured/m.test(stderr)).toBe(givenUp);
  });
});
