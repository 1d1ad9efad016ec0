/**
 * The calibration interposer with the simulated GPU: it hooks what it is told to, and refuses settings that it does not
 * understand.
 */
import { describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import { command } from '../cli/command.js';
import { measure } from './child.js';

const quick = { init_ms: 1, context_ms: 1 };
const library = interposerLibrary() ?? '';

interface FunctionRow {
  name: string;
  owner: string;
  intercepted: boolean;
}

async function functionsUnder(interpose: string, path: 'runtime' | 'dlsym' | 'linked' = 'runtime') {
  const environment = { LD_PRELOAD: library, GVB_INTERPOSE: interpose };
  const [result] = await measure([['measureApiInterception', { iterations: 50, path }]], { sim: quick, environment });
  return new Map((result?.details.functions as FunctionRow[]).map((row) => [row.name, row]));
}

describe('the calibration interposer', () => {
  it('is found', () => expect(library).toMatch(/libgvb-interpose\.so$/));

  it('hooks on runtime and dlsym only the named functions', async () => {
    const functions = await functionsUnder('cuCtxGetDevice=+100ns');
    const hooked = [...functions.values()].filter(({ intercepted }) => intercepted).map(({ name }) => name);
    expect(hooked.sort()).toEqual(['cuCtxGetDevice', 'dlsym']);
    expect(functions.get('cuCtxGetDevice')?.owner).toBe(library);
  });

  it.each([
    ['export', false, false],
    ['export+dlsym', false, true],
    ['export+dlsym+procaddress', true, true],
  ])('with hooks=%s is reached by runtime: %s, by dlsym: %s', async (hooks, runtime, dlsym) => {
    const settings = `cuCtxGetDevice=+100ns,hooks=${hooks}`;
    const met = async (path: 'runtime' | 'dlsym' | 'linked') =>
      (await functionsUnder(settings, path)).get('cuCtxGetDevice')?.intercepted;
    expect(await met('runtime')).toBe(runtime);
    expect(await met('dlsym')).toBe(dlsym);
    expect(await met('linked')).toBe(true);
  });

  it.each([
    ['cuCtxGetDevise=+1ns', 'cuCtxGetDevise'],
    ['cuCtxGetDevice=1ns', '1ns'],
    ['cuCtxGetDevice=+1s', '+1s'],
    ['memory=0', '0'],
    ['memory=4GB', '4GB'],
    ['sm=101', '101'],
    ['hooks=dlopen', 'dlopen'],
    ['cuInit=+0ns,lock=0us', '0us'],
    ['lock=2ms', 'lock=2ms'],
    ['cuInit=+0ns,lock=2ms,state=/nonexistent/state', '/nonexistent/state'],
    ['poll=101%', '101%'],
    ['perlive=5', '5'],
    ['perlive=-5ns', '-5ns'],
    ['token=', ''],
    ['token=100ns@0', '0'],
    ['token=1s@50', '1s'],
  ])('refuses %s', async (settings, received) => {
    const { code, stderr } = await command(['doctor'], { LD_PRELOAD: library, GVB_INTERPOSE: settings });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^gpu-virt-bench interposer: Expected .* in GVB_INTERPOSE to be .*\n$/);
    expect(stderr).toContain(`received '${received}'`);
  });
});
