import { describe, expect, it } from 'vitest';
import type { DriverProbe } from '../../../lib/native/addon-types.js';
import { chooseTarget, type TargetRequest, targetWarnings } from '../../../lib/run/plan/target.js';

const DLERROR = 'libcuda.so.1: cannot open shared object file: No such file or directory';

function choose(request: Partial<TargetRequest>, driver: string | null, folder: string | null = '/sim') {
  const probe = { path: driver, error: driver === null ? DLERROR : null, fatal: false };
  return chooseAfter(probe, request, folder);
}

function chooseAfter(probe: DriverProbe, request: Partial<TargetRequest>, folder: string | null = '/sim') {
  const addon = { probeDriver: () => probe };
  return chooseTarget({ simulate: false, requireGpu: false, timeoutSeconds: null, ...request }, addon, () => folder);
}

describe('real or simulated', () => {
  it('takes the available driver', () =>
    expect(choose({}, '/lib/libcuda.so.1')).toEqual({
      simulatedDriver: null,
      simulate: false,
      notice: null,
    }));

  it('simulates without a driver, with a warning', () => {
    const target = choose({}, null);
    expect(target.simulatedDriver).toBe('/sim');
    expect(target.notice).toBe(
      'No NVIDIA driver found (dlopen libcuda.so.1: cannot open shared object file: No such file or directory): measuring the SIMULATED GPU. These numbers say nothing about real hardware.',
    );
  });

  it('simulates on request despite a driver', () =>
    expect(choose({ simulate: true }, '/lib/libcuda.so.1')).toMatchObject({ simulatedDriver: '/sim', notice: null }));

  it('refuses to simulate by default if a driver cannot be loaded', () => {
    const probe = { path: null, error: 'the process that loaded it was killed by signal 11', fatal: true };
    expect(() => chooseAfter(probe, {})).toThrow(/^libcuda\.so\.1 cannot be loaded: the process .* signal 11\. Repair/);
    expect(chooseAfter(probe, { simulate: true })).toMatchObject({ simulate: true, notice: null });
  });

  it('refuses to simulate when a GPU is required', () =>
    expect(() => choose({ requireGpu: true }, null)).toThrow(expect.objectContaining({ code: 'NO_DRIVER' })));

  it('warns that GVB_SIM is ignored if the loaded driver is a real one', () => {
    const environment = { GVB_SIM: 'sms=4' };
    expect(targetWarnings({ simulated: false }, environment)).toEqual([expect.stringMatching(/^GVB_SIM is ignored/)]);
    expect(targetWarnings({ simulated: true }, environment)).toEqual([]);
    expect(targetWarnings({ simulated: false }, {})).toEqual([]);
  });

  it('names the build command if the simulation is missing', () =>
    expect(() => choose({ simulate: true }, null, null)).toThrow(/npm run build:native/));
});
