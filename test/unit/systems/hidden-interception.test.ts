import { describe, expect, it } from 'vitest';
import type { LibcudaInfo } from '../../../lib/native/addon-types.js';
import {
  driverCode,
  hiddenInterceptionWarnings,
  ownLibcuda,
  replacedLibcuda,
} from '../../../lib/systems/proof/hidden-interception.js';
import { interceptors } from '../../../lib/systems/proof/interception.js';
import type { Description } from '../../../lib/workers/description.js';
import { inspection, LAYER, provenance } from '../run/fixtures.js';

const LIBRARY = '/usr/lib/x86_64-linux-gnu/libcuda.so.580.1.2';
const libcuda = (change: Partial<LibcudaInfo> = {}): LibcudaInfo => ({
  loaded: LIBRARY,
  driver: LIBRARY,
  simulated: false,
  kernelModule: '580.1.2',
  carriesKernelVersion: true,
  ...change,
});

function seen(change: Partial<LibcudaInfo>, driverVersion: string | null = '580.1.2'): Description {
  return {
    pid: 1,
    inspection: inspection({ driverVersion }),
    provenance: provenance([], { libcuda: libcuda(change) }),
    preload: [],
    environment: {},
  };
}

function patchedBy(owner: string | null): Description {
  const description = seen({});
  const [row] = description.provenance.functions;
  if (!row) throw new Error('unreachable');
  row.patched = { bytes: 'cc', owner };
  return description;
}

describe('replacedLibcuda', () => {
  it.each<[string, Partial<LibcudaInfo>, string | null, RegExp]>([
    ['another library in front', { loaded: '/opt/libcuda.so.1' }, null, /in place of the driver, \/usr/],
    [
      'a library of another release than the kernel module',
      { carriesKernelVersion: false },
      null,
      /than the kernel module \(/,
    ],
    ["a library of another release than NVML's", {}, '575.9', /it is version 580\.1\.2, NVML says 575\.9/],
  ])('finds %s', (_, change, version, reason) => {
    const description = seen(change, version);
    expect(replacedLibcuda(description)?.reason).toMatch(reason);
    expect(ownLibcuda(description).passed).toBe(false);
  });

  describe('beside another library that exports cuInit', () => {
    const other = (path: string) => ({ path, cudaExports: 400, exportsDlsym: false, exportsInit: true });

    it('names it, by any file name', () => {
      const description = seen({});
      description.provenance.objects.push(other('/opt/libother.so'));
      expect(replacedLibcuda(description)).toEqual({
        by: LIBRARY,
        driver: '/opt/libother.so',
        reason: 'a second library exports cuInit: /opt/libother.so',
      });
    });

    it('accepts a layer that is preloaded, or that owns functions', () => {
      const preloaded = seen({});
      preloaded.provenance.objects.push(other(LAYER));
      preloaded.preload.push({ entry: LAYER, source: 'LD_PRELOAD', mapped: LAYER });
      expect(replacedLibcuda(preloaded)).toBeNull();
      const interposed = seen({});
      interposed.provenance = provenance(['runtime'], { libcuda: libcuda() });
      expect(interposed.provenance.objects).toMatchObject([{ path: LAYER, exportsInit: true }]);
      expect(replacedLibcuda(interposed)).toBeNull();
    });

    it('accepts a helper library of the driver', () => {
      const description = seen({});
      description.provenance.objects.push({ ...other('/usr/lib/libcudadebugger.so.1'), exportsInit: false });
      expect(replacedLibcuda(description)).toBeNull();
    });
  });

  it.each<[string, Partial<LibcudaInfo>, string | null]>([
    ['the driver', {}, '580.1.2'],
    [
      'the simulation, whatever kernel module there is',
      { simulated: true, carriesKernelVersion: false },
      'simulated.13.0',
    ],
    ['a library where neither kernel module nor NVML tell', { kernelModule: null, carriesKernelVersion: null }, null],
    ['a library whose file name has no version', { loaded: '/x/libcuda.so.1', driver: '/x/libcuda.so.1' }, '575.9'],
  ])('accepts %s', (_, change, version) => expect(replacedLibcuda(seen(change, version))).toBeNull());
});

describe('driverCode', () => {
  it('fails if patched by another library than the expected layer', () => {
    expect(driverCode(patchedBy(LAYER), LAYER).passed).toBe(true);
    expect(driverCode(patchedBy(LAYER), null)).toMatchObject({
      passed: false,
      detail: `changed in memory: cuInit (jumps to ${LAYER})`,
    });
    expect(driverCode(patchedBy('/opt/other.so'), LAYER).passed).toBe(false);
  });

  it('fails for a patch with an unknown target, which is not counted as an interceptor', () => {
    const description = patchedBy(null);
    expect(driverCode(description, LAYER)).toMatchObject({
      passed: false,
      detail: 'changed in memory: cuInit (no jump to a library was found)',
    });
    expect(interceptors(description.provenance)).toEqual([]);
    expect(hiddenInterceptionWarnings(description)).toHaveLength(1);
  });

  it('is not checked if the file cannot be compared', () => {
    const description = seen({});
    description.provenance.codeUnreadable = 'libcuda.so.1 is not the file that was mapped';
    expect(driverCode(description, null)).toMatchObject({
      passed: null,
      detail: 'libcuda.so.1 is not the file that was mapped',
    });
  });
});
