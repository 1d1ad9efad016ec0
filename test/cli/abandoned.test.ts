/** The next start removes what a killed coordinator left behind. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary.js';
import { emptyFolder, processesOf, start } from './command.js';

it('the next start removes the run directory of a killed coordinator, and leaves none itself', async () => {
  const TMPDIR = temporaryFolder('killed');
  const compare = (sim: string) =>
    start(
      [
        'compare',
        'OH-002',
        '--simulate',
        '--rounds',
        '1',
        '--iterations',
        '20',
        '--output',
        join(emptyFolder(), 'out'),
      ].concat(['--system', 'native:name=a', '--system', 'native:name=b']),
      { TMPDIR },
      sim,
    );
  const killed = compare('init_ms=100000');
  const named = () =>
    readdirSync(TMPDIR).filter((name) => statSync(join(TMPDIR, name, 'owner.json'), { throwIfNoEntry: false })?.size);
  await expect.poll(named).toEqual([expect.stringMatching(/^gvb-\w{6}$/)]);
  killed.child.kill('SIGKILL');
  await killed.done;
  await expect.poll(() => processesOf(killed.mark)).toEqual([]);
  expect(readdirSync(TMPDIR)).toHaveLength(1);

  const { code } = await compare('init_ms=1,context_ms=1').done;
  expect(code).toBe(0);
  expect(readdirSync(TMPDIR)).toEqual([]);
});
