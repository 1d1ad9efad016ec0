import { describe, expect, it, onTestFinished } from 'vitest';
import { NativeSystem } from '../../../lib/systems/kinds/native/native-system.js';
import type { Description } from '../../../lib/workers/description.js';
import { device, inspection } from '../run/fixtures.js';
import { CARD, description, runState, temporaryFolder } from './fixtures.js';

const folder = temporaryFolder();

async function attest(seen: Description) {
  const system = new NativeSystem({ name: 'native', caller: {} });
  await system.prepare(runState(folder));
  onTestFinished(() => system.teardown());
  return system.attest(seen);
}
const withDevice = (change: Parameters<typeof device>[1]): Description => ({
  ...description(null),
  inspection: inspection({ devices: [device(0, { memoryBytes: CARD, visibleMemoryBytes: CARD, ...change })] }),
});

describe('native', () => {
  it('is proven by a driver that owns everything and the whole card', async () => {
    const { invalid, proofs, layer } = await attest(withDevice({ visibleMemoryBytes: CARD * 0.98 }));
    expect({ invalid, layer }).toEqual({ invalid: undefined, layer: null });
    expect(proofs.map(({ passed }) => passed)).toEqual([true, true, true, true, true, true, true, true, true]);
  });

  it.each<[string, Description, RegExp]>([
    [
      'a layer that hooks',
      description('/opt/libvgpu.so', { memoryBytes: CARD }),
      /owns 4 of 4 functions\. Remove the layer from/,
    ],
    [
      'a layer that is mapped and idle',
      description('/opt/libvgpu.so', { memoryBytes: CARD, paths: [] }),
      /mapped: \/opt\/libvgpu\.so/,
    ],
    ['a bent memory view', withDevice({ visibleMemoryBytes: CARD / 2 }), /the tenant sees 71680 MiB/],
    ['an MPS client', withDevice({ mpsClient: true }), /MPS client/],
    ['MIG', withDevice({ migMode: 'enabled' }), /MIG mode: enabled/],
    ['another GPU', withDevice({ uuid: 'GPU-other' }), /does not see GPU-0aaaaaaa.*device filter/],
  ])('is invalid under %s', async (_, seen, reason) => expect((await attest(seen)).invalid).toMatch(reason));

  it('accepts a helper library of the driver', async () => {
    const seen = description(null);
    seen.provenance.objects.push({
      path: '/usr/lib/libcudadebugger.so.1',
      cudaExports: 12,
      exportsDlsym: false,
      exportsInit: false,
    });
    expect((await attest(seen)).invalid).toBeUndefined();
  });

  it('accepts an unknown MPS attribute', async () => {
    const { invalid, notChecked } = await attest(withDevice({ mpsClient: null }));
    expect(invalid).toBeUndefined();
    expect(notChecked).toHaveLength(1);
  });
});
