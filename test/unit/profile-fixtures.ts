/** Call profiles for tests. */
import type { CallProfile, Phase } from '../../lib/results/call-profile.js';

export const phase = (calls: Record<string, number>, change: Partial<Phase> = {}): Phase => ({
  name: 'all',
  seconds: 2,
  steps: 10,
  calls,
  ...change,
});

export const callProfile = (...phases: Phase[]): CallProfile => ({
  kind: 'call profile',
  schemaVersion: 1,
  tool: { name: 'gpu-virt-bench', version: '0.1.0' },
  name: 'decode',
  origin: {
    command: ['python', 'decode.py'],
    recordedAt: '2026-01-01T00:00:00.000Z',
    ended: 'exit code 0',
    simulated: false,
    driver: { libcuda: null, version: null },
    gpus: [],
  },
  processes: { calling: 1, of: 1 },
  phases,
});
