import { describe, expect, it } from 'vitest';
import { type Facts, findings } from '../../../lib/run/findings.js';
import { interceptors } from '../../../lib/systems/proof/interception.js';
import { description, device, host, inspection, provenance } from './fixtures.js';

function conclude(change: Partial<Facts>) {
  return findings({
    host,
    environment: {},
    mps: { pipeDirectory: '/tmp/nvidia-mps', controlPipe: false },
    pciGpu: true,
    addonError: null,
    driverError: null,
    workerError: null,
    description: description(),
    attestation: { layer: null, proofs: [], groundTruth: 'nvml', warnings: [] },
    interceptors: [],
    ...change,
  });
}

const seen = (change: Parameters<typeof inspection>[0]) => ({
  description: description({ inspection: inspection(change) }),
});

describe('findings', () => {
  it('is empty on a correct machine', () => expect(conclude({})).toEqual([]));

  it.each<[string, Partial<Facts>, RegExp, string | null]>([
    ['a missing addon', { addonError: 'not built' }, /not built/, null],
    [
      'a missing driver',
      { driverError: 'no such file', description: null },
      /no such file.*SIMULATED/,
      'sudo ubuntu-drivers install',
    ],
    ['a dead worker', { workerError: 'killed', description: null }, /killed/, null],
    [
      'hidden GPUs',
      {
        ...seen({ cuda: { code: 100, name: 'CUDA_ERROR_NO_DEVICE', call: 'cuInit', missing: null } }),
        environment: { CUDA_VISIBLE_DEVICES: '' },
      },
      /cuInit returned CUDA_ERROR_NO_DEVICE \(100\)/,
      'unset CUDA_VISIBLE_DEVICES',
    ],
    [
      'a driver out of step',
      seen({ cuda: { code: 803, name: 'CUDA_ERROR_SYSTEM_DRIVER_MISMATCH', call: 'cuInit', missing: null } }),
      /803/,
      'sudo reboot',
    ],
    ['no GPU', seen({ devices: [] }), /no GPU/, 'nvidia-smi -L'],
    ['a simulated driver in the library path', seen({ simulated: true }), /simulated/, 'unset LD_LIBRARY_PATH'],
    [
      'a prohibited GPU',
      seen({ devices: [device(3, { computeMode: 'prohibited' })] }),
      /GPU 3 .*prohibited/,
      'sudo nvidia-smi -i 3 -c DEFAULT',
    ],
  ])('names %s as an error with its fix', (_, facts, text, fix) => {
    const errors = conclude(facts).filter(({ severity }) => severity === 'error');
    expect(errors).toEqual([{ severity: 'error', text: expect.stringMatching(text), fix }]);
  });

  it('proposes no installation if there is no device', () =>
    expect(conclude({ driverError: 'no', description: null, pciGpu: false })).toEqual([
      { severity: 'error', text: expect.stringMatching(/No NVIDIA device is on the PCI bus\.$/), fix: null },
    ]));

  it('asks for --gpus in a container', () => {
    const [finding] = conclude({ driverError: 'no', description: null, host: { ...host, container: true } });
    expect(finding?.fix).toContain('--gpus all');
  });

  it('warns of a GPU without persistence mode', () =>
    expect(conclude(seen({ devices: [device(0, { persistenceMode: false })] }))).toEqual([
      { severity: 'warning', text: expect.stringMatching(/persistence/), fix: 'sudo nvidia-smi -i 0 -pm 1' },
    ]));

  it('names the path on which functions escape a layer', () => {
    const found = conclude({ interceptors: interceptors(provenance(['runtime', 'dlsym'])) });
    expect(found).toEqual([
      {
        severity: 'note',
        text: '/opt/vgpu/libvgpu.so intercepts cuInit, cuMemAlloc on runtime and dlsym but not on linked.',
        fix: null,
      },
    ]);
  });

  it('reports no disagreement for a layer on every path', () =>
    expect(conclude({ interceptors: interceptors(provenance(['runtime', 'dlsym', 'linked'])) })).toEqual([]));
});
