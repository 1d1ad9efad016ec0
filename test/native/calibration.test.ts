/** The calibration interposer against the simulated GPU: what it injects is recovered, and it hooks what it is told to. */
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
  overheadNs: number;
  achievedNs: number | null;
}

async function functionsUnder(interpose: string, path: 'runtime' | 'dlsym' | 'linked' = 'runtime') {
  const environment = { LD_PRELOAD: library, GVB_INTERPOSE: interpose };
  const [result] = await measure([['measureApiInterception', { iterations: 50, path }]], { sim: quick, environment });
  return new Map((result?.details.functions as FunctionRow[]).map((row) => [row.name, row]));
}

describe('the calibration interposer', () => {
  it('is found', () => expect(library).toMatch(/libgvb-interpose\.so$/));

  it('hooks on runtime and dlsym only what it is told to', async () => {
    const functions = await functionsUnder('cuCtxGetDevice=+100ns');
    const hooked = [...functions.values()].filter(({ intercepted }) => intercepted).map(({ name }) => name);
    expect(hooked.sort()).toEqual(['cuCtxGetDevice', 'dlsym']);
    expect(functions.get('cuCtxGetDevice')?.owner).toBe(library);
  });

  it.each([
    ['export', false, false],
    ['export+dlsym', false, true],
    ['export+dlsym+procaddress', true, true],
  ])('with hooks=%s is met by runtime: %s, by dlsym: %s', async (hooks, runtime, dlsym) => {
    const settings = `cuCtxGetDevice=+100ns,hooks=${hooks}`;
    const met = async (path: 'runtime' | 'dlsym' | 'linked') =>
      (await functionsUnder(settings, path)).get('cuCtxGetDevice')?.intercepted;
    expect(await met('runtime')).toBe(runtime);
    expect(await met('dlsym')).toBe(dlsym);
    expect(await met('linked')).toBe(true);
  });

  it('says what its delays really took', async () => {
    const row = (await functionsUnder('cuCtxGetDevice=+1us')).get('cuCtxGetDevice');
    expect(row?.achievedNs).toBeGreaterThan(990);
    expect(row?.achievedNs).toBeLessThan(1_100);
  });

  it('adds what each live block costs, and a token where there is a limit', async () => {
    const achieved = async (settings: string, name: string) => (await functionsUnder(settings)).get(name)?.achievedNs ?? -1;
    // One block is live while OH-005 makes its calls.
    expect(Math.abs((await achieved('perlive=1us', 'cuPointerGetAttribute')) - 1_000)).toBeLessThan(100);
    expect(Math.abs((await achieved('token=1us', 'cuLaunchKernel')) - 1_000)).toBeLessThan(100);
    expect(Math.abs((await achieved('cuLaunchKernel=+1us,token=1us@50', 'cuLaunchKernel')) - 2_000)).toBeLessThan(100);
    expect(await achieved('token=1us@100', 'cuLaunchKernel')).toBeLessThan(200);
  });

  it.each([
    ['no delay', '', 0],
    ['a microsecond', 'cuLaunchKernel=+1us', 1_000],
  ])('on an isolated launch is what OH-001 pairs: %s', async (_, interpose, truth) => {
    const environment = interpose === '' ? {} : { LD_PRELOAD: library, GVB_INTERPOSE: interpose };
    const [result] = await measure([['measureKernelLaunch', { iterations: 80 }]], { sim: quick, environment });
    const { overheadNs, intercepted } = result?.details.pair as { overheadNs: number; intercepted: boolean };
    expect(intercepted).toBe(truth > 0);
    expect(Math.abs(overheadNs - truth)).toBeLessThan(100);
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

describe('calibrate', () => {
  it('comes close to every truth, and exits by whether it recovered them all', async () => {
    const { code, stdout } = await command(['calibrate', '--simulate', '--tier', 'quick', '--json', '-']);
    const rows = JSON.parse(stdout) as { what: string; unit: string; truth: number; bias: number; recovered: boolean }[];
    expect(rows).toHaveLength(14);
    // The 15 ns and 3 percentage points that calibrate asks for are for a quiet machine; where tests run, others may be busy.
    const tolerance: Record<string, number> = { ns: 30, bytes: 0, '%': 5 };
    for (const { what, unit, truth, bias } of rows) {
      // The truths are what was injected: a table of zeros would be close too.
      const injected = Number(/(\d+) (?:ns|%)/.exec(what)?.[1] ?? 4 * 1024 ** 3);
      expect(Math.abs(truth - injected)).toBeLessThan(0.2 * injected + 5);
      expect(Math.abs(bias)).toBeLessThanOrEqual(tolerance[unit] ?? 0);
    }
    expect(code).toBe(rows.every(({ recovered }) => recovered) ? 0 : 1);
  }, 60_000);
});
