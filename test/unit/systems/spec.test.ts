import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSystem } from '../../../lib/systems/input/parse.js';
import { publicValue, specOf } from '../../../lib/systems/input/spec.js';
import { runState, temporaryFolder } from './fixtures.js';

const here = { caller: {}, folder: '/srv/here' };
const again = (text: string) => parseSystem(text, here).spec;

describe('the specification of a system', () => {
  it.each([
    ['native', 'native'],
    ['native:name=a', 'native:name=a'],
    ['hami-core:memory=10GiB,sm=50,name=x', 'hami-core:memory=10GiB,sm=50,name=x'],
    [
      'custom:name=mine,env.A=1\\,2,env.B=x=y,prefix=taskset,prefix=-c',
      'custom:name=mine,env.A=1\\,2,env.B=x=y,prefix=taskset,prefix=-c',
    ],
  ])('%s', (text, spec) => {
    expect(again(text)).toBe(spec);
    expect(again(spec)).toBe(spec);
  });

  it('names a library independently of its folder', () =>
    expect(specOf('hami-core', { library: 'lib/x.so', sm: '50' }, '/srv/here')).toBe(
      'hami-core:library=/srv/here/lib/x.so,sm=50',
    ));

  it('is null if only a file can describe the system', () => {
    expect(specOf('custom', { name: 'a', verify: [{ smCount: ['1', '2'] }] }, '/')).toBeNull();
    expect(specOf('custom', { name: 'a', setup: [['true']] }, '/')).toBeNull();
    expect(specOf('custom', { name: 'a', env: { A: 'x\\', B: 'y' } }, '/')).toBeNull();
  });

  it('is parsed to the same system', async () => {
    const value = fc.stringMatching(/^[^\0\\{}]{1,20}$/);
    await fc.assert(
      fc.asyncProperty(value, value, async (a, b) => {
        const system = parseSystem(specOf('custom', { name: 'mine', env: { A: a, B: b } }, '/') as string, here);
        const run = runState(temporaryFolder());
        await system.prepare(run);
        expect(system.environment()).toMatchObject({ A: a, B: b });
        await system.teardown();
      }),
      { numRuns: 30 },
    );
  });

  it.each(['API_TOKEN', 'MY_PASSPHRASE', 'AWS_ACCESS_KEY_ID', 'BASIC_AUTH', 'db_password', 'PRIVATE'])(
    'does not contain the value of %s',
    (name) => {
      expect(publicValue(name, 'x')).toBe('(not recorded)');
      expect(specOf('custom', { name: 'a', env: { [name]: 'x' } }, '/')).toBe(
        `custom:name=a,env.${name}=(not recorded)`,
      );
    },
  );
});
