import { describe, expect, it } from 'vitest';
import { isPod, podFindings } from '../../../lib/run/pod-findings.js';
import { description, device, inspection } from './fixtures.js';

const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };
const inside = (environment: NodeJS.ProcessEnv, change: Parameters<typeof device>[1] = {}) =>
  podFindings(
    pod,
    description({ environment: { ...pod, ...environment }, inspection: inspection({ devices: [device(0, change)] }) }),
  ).map(({ severity, text }) => `${severity}: ${text}`);

describe('findings of a pod', () => {
  it('are none outside of one', () => {
    expect(isPod({})).toBe(false);
    expect(podFindings({}, description())).toEqual([]);
  });

  it('say what the pod is under', () => {
    expect(inside({})).toEqual([expect.stringContaining('note: This is a pod under the bare driver')]);
    expect(inside({ CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: '0=2G' }, { mpsClient: true })).toEqual([
      'note: This is a pod that is a client of MPS; its environment states the limits memory 2048 MiB.',
    ]);
    expect(inside({}, { uuid: 'MIG-1' })).toEqual([expect.stringContaining('on a MIG instance')]);
  });

  it('warn of limits that nothing enforces', () => {
    expect(inside({ CUDA_DEVICE_MEMORY_LIMIT_0: '100m' })[1]).toMatch(
      /^warning: CUDA_DEVICE_MEMORY_LIMIT_0 state limits, but no library intercepts/,
    );
    expect(inside({ CUDA_DEVICE_SM_LIMIT: '50', CUDA_DISABLE_CONTROL: 'true' })[1]).toContain('leaves the layer');
    expect(inside({ CUDA_MPS_PIPE_DIRECTORY: '/mps' }, { mpsClient: false })[1]).toContain('no client of MPS');
  });
});
