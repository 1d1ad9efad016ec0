import { describe, expect, it } from 'vitest';
import { parseSystem, parseSystems } from '../../../lib/systems/input/parse.js';
import { kinds } from '../../../lib/systems/registry.js';
import { libraryFile, runState, temporaryFolder } from './fixtures.js';

const folder = temporaryFolder();
libraryFile(folder);
const here = { caller: {}, folder };
const parse = (text: string) => parseSystem(text, here);

async function environmentOf(text: string) {
  const system = parse(text);
  await system.prepare(runState(folder));
  const environment = system.environment();
  await system.teardown();
  return environment;
}

describe('systems on the command line', () => {
  it('are named by their kind or by name=', () => {
    const systems = parseSystems(['native', 'hami-core:library=libvgpu.so', 'fcsp:name=b', 'custom:name=mine'], here);
    expect(systems.map(({ name, kind }) => [name, kind])).toEqual([
      ['native', 'native'],
      ['hami-core', 'hami-core'],
      ['b', 'fcsp'],
      ['mine (unverified)', 'custom'],
    ]);
  });

  it('take limits with units', async () =>
    expect(await environmentOf('hami-core:library=libvgpu.so,memory=10GiB,sm=50,policy=disable')).toMatchObject({
      CUDA_DEVICE_MEMORY_LIMIT: '10240m',
      CUDA_DEVICE_SM_LIMIT: '50',
      GPU_CORE_UTILIZATION_POLICY: 'disable',
    }));

  it.each(['cores', 'sm'])('take the cores of vgpu-manager as %s', async (key) =>
    expect(
      await environmentOf(`vgpu-manager:library=libvgpu.so,memory=20GiB,${key}=30,soft-cores=60,controller=aimd`),
    ).toMatchObject({
      CUDA_MEM_LIMIT_0: '20480Mi',
      CUDA_CORE_LIMIT_0: '30',
      CUDA_CORE_SOFT_LIMIT_0: '60',
      CUDA_SM_CONTROLLER: 'aimd',
    }),
  );

  it('take values with = and an escaped comma, and map entries with a dot', async () =>
    expect(await environmentOf('custom:name=mine,env.A=x=y\\,z,env.B_1=2')).toMatchObject({ A: 'x=y,z', B_1: '2' }));

  it('take lists from repeated keys', () =>
    expect(parse('custom:name=mine,prefix=taskset,prefix=-c,prefix=0').name).toBe('mine (unverified)'));

  it.each([
    ['nativ', "Expected a kind of system but received 'nativ': did you mean native?"],
    ['', `Expected a kind of system but received '': there are ${Object.keys(kinds).join(', ')}.`],
    ['__proto__', `Expected a kind of system but received '__proto__': there are ${Object.keys(kinds).join(', ')}.`],
    ['hami-core:memry=1GiB', "Expected a key of hami-core but received 'memry': did you mean memory?"],
    [
      'hami-core:__proto__=x',
      "Expected a key of hami-core but received '__proto__': it has name, library, memory, sm, policy.",
    ],
    ['hami-core:memory', "Expected hami-core to have settings key=value but received 'memory'."],
    ['hami-core:', "Expected hami-core to have settings key=value but received ''."],
    ['hami-core:sm=50,sm=60', 'Expected sm of hami-core once but received it twice.'],
    ['hami-core:sm=0', 'Expected sm of hami-core to be an integer from 1 to 100 but received 0.'],
    [
      'hami-core:memory=4XB',
      "Expected memory of hami-core to be a size above 0 such as 10GiB, 4096MiB, 10GB (1e9) or 1048576B but received '4XB'.",
    ],
    [
      'hami-core:policy=forced',
      "Expected policy of hami-core to be force, disable or default but received 'forced': did you mean force?",
    ],
    [
      'hami-core:library=nowhere.so',
      "Expected library of hami-core to be a shared library of this machine but received 'nowhere.so': there is no such file.",
    ],
    ['vgpu-manager:cores=30,sm=50', 'Expected cores or sm of vgpu-manager but received both.'],
    [
      'vgpu-manager:sm=50,soft-cores=50',
      'Expected soft-cores of vgpu-manager to be above sm, which is 50, but received 50.',
    ],
    [
      'vgpu-manager:soft-cores=50',
      'Expected soft-cores of vgpu-manager to be above cores, which is not set, but received 50.',
    ],
    [
      'vgpu-manager:controller=pid',
      "Expected controller of vgpu-manager to be delta, aimd or auto but received 'pid'.",
    ],
    ['mps:sm=50,partition=4', 'Expected sm or partition of mps but received both.'],
    ['mps:partition=0', 'Expected partition of mps to be an integer from 1 to 256 but received 0.'],
    ['native:memory=1GiB', "Expected a key of native but received 'memory': it has name, recorded."],
    [
      'native:name=a/b',
      "Expected name of native to be at most 40 letters, digits and . _ + -, the first a letter or digit but received 'a/b'.",
    ],
    ['custom', 'Expected custom to have name: at most 40 letters'],
    ['custom:name=x,env=y', "Expected env of custom to be a map of keys to values but received 'y'."],
    ['custom:name=x,env=y,env.A=1', 'Expected env of custom once but received it as text and as a map.'],
    ['fcsp:verify=x', /^Expected a key of fcsp but received 'verify': /],
  ])('are refused as %j', (text, message) => expect(() => parse(text)).toThrow(message));

  it.each([[['native', 'native']], [['custom:name=Mine', 'custom:name=mine']], [['fcsp:name=native', 'native']]])(
    'are refused twice without names: %j',
    (texts) =>
      expect(() => parseSystems(texts, here)).toThrow(
        /^Expected systems of different names but received .* twice: .*name=/,
      ),
  );

  it('may appear twice under different names', () =>
    expect(parseSystems(['native', 'native:name=again'], here)).toHaveLength(2));
});
