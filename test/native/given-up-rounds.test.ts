/** After any failed proof, further rounds of that system are not measured. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { environmentSystem } from '../../lib/systems/process/environment.js';
import type { Evidence, System } from '../../lib/systems/system.js';
import { command, emptyFolder, parseComparison } from '../cli/command.js';
import { compared, environment } from './compared.js';

const plain = environmentSystem(environment);

/** A system whose proofs fail with this reason when a process is checked in this phase. */
const failing = (invalid: string, phase: Evidence['phase']): System => ({
  ...plain,
  name: 'failing',
  attest: async (description, evidence) => ({
    ...(await plain.attest(description, evidence)),
    ...(evidence?.phase === phase && { invalid }),
  }),
});

describe('a system with a failed proof', () => {
  it.each<[string, Evidence['phase'], string]>([
    ['layer not active: x', 'before', 'OH-002'],
    ['the clock belongs to /opt/slow.so (x ran at half the rate)', 'before', 'OH-002'],
    ['no reason that is known anywhere else.', 'before', 'OH-002'],
    ['the clock belongs to /opt/slow.so', 'after', 'OH-002'],
    ['the clock belongs to /opt/slow.so', 'process', 'OH-009'],
  ])('with "%s" in the phase %s is not measured further, but the other systems are', async (reason, phase, metric) => {
    const systems = [plain, { ...plain, name: 'other' }, failing(reason, phase)];
    const { documents, origins, givenUp } = await compared(systems, 2, { metric });
    expect(origins).toEqual([
      ['measured', 'measured'],
      ['measured', 'measured'],
      ['measured', 'not measured'],
    ]);
    expect(givenUp).toEqual(['failing']);
    const results = documents[2]?.map(({ metrics }) => metrics[0]);
    expect(results?.map((result) => [result?.status, result?.value])).toEqual([
      ['invalid', null],
      ['invalid', null],
    ]);
    const text = reason.replace(/\.$/, '');
    const after = `${text}. Not measured after round 1; --keep-going measures further rounds.`;
    expect(results?.[0]?.reason).not.toContain('Not measured after');
    expect(results?.[1]?.reason).toBe(after);
  });

  it('ends the comparison if nothing is left to compare it with', async () => {
    const { origins, givenUp } = await compared([plain, failing('layer not active: x', 'before')], 3);
    expect({ origins, givenUp }).toEqual({ origins: [['measured'], ['measured']], givenUp: ['failing'] });
  });

  it('is measured further with --keep-going', async () => {
    const system = failing('the clock belongs to /opt/slow.so', 'before');
    const { origins, givenUp } = await compared([system], 2, { keepGoing: true });
    expect({ origins, givenUp }).toEqual({ origins: [['measured', 'measured']], givenUp: [] });
  });
});

it('measures further rounds of a system whose worker cannot start, because no proof failed', async () => {
  const broken = { ...plain, name: 'broken', argvPrefix: () => ['/nonexistent/prefix'] };
  const { origins, givenUp, documents } = await compared([broken], 2);
  expect({ origins, givenUp }).toEqual({ origins: [['not measured', 'not measured']], givenUp: [] });
  expect(documents[0]?.map(({ metrics }) => metrics[0]?.status)).toEqual(['failed', 'failed']);
  for (const { metrics } of documents[0] ?? []) expect(metrics[0]?.reason).not.toContain('Not measured after');
});

it('reports the rounds after a failed proof of the clock as not measured', async () => {
  const layer = join(emptyFolder(), 'slow-clock.so');
  const source = fileURLToPath(new URL('fixtures/slow-clock.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
  const slow = `custom:name=slow,interposes=false,env.LD_PRELOAD=${layer}`;
  const args = ['compare', 'OH-002', '--simulate', '--iterations', '20', '--rounds', '2', '--json', '-'];
  const systems = [
    '--system',
    'native',
    '--system',
    'native:name=other',
    '--system',
    slow,
    '--output',
    join(emptyFolder(), 'out'),
  ];
  const { stdout, stderr } = await command([...args, ...systems], {}, 'init_ms=8,context_ms=8');
  const announced = stderr.match(/^Round \d, .*$/gm)?.sort();
  expect(announced).toEqual([
    expect.stringMatching(/^Round 1, native: \d/),
    expect.stringMatching(/^Round 1, other: \d/),
    expect.stringMatching(/^Round 1, slow \(unverified\): \d/),
    expect.stringMatching(/^Round 2, native: \d/),
    expect.stringMatching(/^Round 2, other: \d/),
    'Round 2, slow (unverified): not measured',
  ]);
  expect(stderr).toContain('slow (unverified): its further rounds are not measured (--keep-going measures them).');
  const second = parseComparison(stdout).systems[2]?.[1]?.metrics[0];
  expect(second).toMatchObject({ status: 'invalid', value: null });
  expect(second?.reason).toMatch(/^the clock belongs to .*slow-clock\.so.*Not measured after round 1;/);
});
