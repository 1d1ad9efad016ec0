import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { callerEnvironment, environmentSystem } from '../../../lib/systems/process/environment.js';
import { functionProvenance, interceptors, NO_FILE } from '../../../lib/systems/proof/interception.js';
import type { Description, PreloadEntry } from '../../../lib/workers/description.js';
import { CUDA, description, LAYER, provenance } from '../run/fixtures.js';

const folder = mkdtempSync(join(tmpdir(), 'gvb-'));
afterAll(() => rmSync(folder, { recursive: true }));

const preloaded = (change: Partial<PreloadEntry> = {}): PreloadEntry => ({
  entry: LAYER,
  source: 'LD_PRELOAD',
  mapped: LAYER,
  ...change,
});
const attest = (change: Partial<Description>) => environmentSystem({}).attest(description(change));

/** Loaded, but it owns nothing, like a HAMi-core that exports only `dlsym`. */
const idle = provenance([], { objects: [{ path: LAYER, cudaExports: 0, exportsDlsym: true, exportsInit: false }] });

describe('the environment as a system', () => {
  it("restores the caller's LD_PRELOAD for workers, without the variable that stored it", () =>
    expect(callerEnvironment({ PATH: '/bin', GVB_CALLER_LD_PRELOAD: LAYER })).toEqual({
      PATH: '/bin',
      LD_PRELOAD: LAYER,
    }));

  it('records variables that affect a measurement, but no secret', () =>
    expect(
      environmentSystem({ CUDA_VISIBLE_DEVICES: '1', AWS_SECRET: 'x', GVB_SIM: 'sms=2', HOME: '/' }).settings,
    ).toEqual({
      CUDA_VISIBLE_DEVICES: '1',
      GVB_SIM: 'sms=2',
    }));

  it('finds no layer on a bare machine', async () => {
    const { layer, warnings, groundTruth, proofs } = await attest({});
    expect({ layer, warnings, groundTruth }).toEqual({ layer: null, warnings: [], groundTruth: 'nvml' });
    expect(proofs).toEqual([
      expect.objectContaining({ passed: true, detail: expect.stringContaining('all 3 functions') }),
      expect.objectContaining({ passed: true, detail: 'all 3 functions are unchanged' }),
      expect.objectContaining({ passed: true, detail: CUDA }),
    ]);
  });

  it('names the object that owns functions as the active layer', async () => {
    const { layer, proofs } = await attest({ provenance: provenance(['dlsym']), preload: [preloaded()] });
    expect(layer).toEqual({ path: LAYER, sha256: null, exports: 120, active: true });
    expect(proofs[0]?.detail).toBe(`${LAYER} owns 2 of 3 functions (runtime 0, dlsym 2, linked 0)`);
  });

  it('warns that a loaded layer hooks nothing', async () => {
    const { layer, warnings, proofs } = await attest({ provenance: idle, preload: [preloaded()] });
    expect(layer).toMatchObject({ path: LAYER, active: false });
    expect(warnings).toEqual([expect.stringMatching(/hooks no function of the driver.*CMAKE_BUILD_TYPE=Debug/)]);
    expect(proofs[0]?.passed).toBe(false);
  });

  it('does not take an ordinary preloaded library for a layer', async () => {
    const { layer, warnings } = await attest({
      preload: [preloaded({ entry: '/lib/jemalloc.so', mapped: '/lib/jemalloc.so' })],
    });
    expect({ layer, warnings }).toEqual({ layer: null, warnings: [] });
  });

  it('warns of an entry that was not loaded', async () => {
    const { warnings } = await attest({ preload: [preloaded({ mapped: null })] });
    expect(warnings).toEqual([expect.stringMatching(/LD_PRELOAD names .* did not load/)]);
  });

  it.each<[PreloadEntry['source'], 'nvml' | 'none']>([
    ['LD_PRELOAD', 'nvml'],
    ['/etc/ld.so.preload', 'none'],
  ])('judges the ground truth under a layer of %s as %s', async (source, groundTruth) =>
    expect(await attest({ provenance: idle, preload: [preloaded({ source })] })).toMatchObject({ groundTruth }),
  );

  it('hashes the layer file', async () => {
    const path = join(folder, 'libvgpu.so');
    writeFileSync(path, 'layer');
    const objects = [{ path, cudaExports: 0, exportsDlsym: true, exportsInit: false }];
    const { layer } = await attest({
      provenance: provenance([], { objects }),
      preload: [preloaded({ entry: path, mapped: path })],
    });
    expect(layer?.sha256).toBe(createHash('sha256').update('layer').digest('hex'));
  });
});

describe('interception', () => {
  it('takes the paths on which the address is another', () =>
    expect(functionProvenance(provenance(['runtime', 'linked'])).map(({ interposed }) => interposed)).toEqual([
      ['runtime', 'linked'],
      ['runtime', 'linked'],
      [],
    ]));

  it('believes the address and not the name of its owner', () => {
    const owners = { runtime: CUDA, dlsym: CUDA, linked: null, bare: CUDA };
    const functions = [{ name: 'cuInit', owners, interposed: ['dlsym'] }];
    expect(functionProvenance(provenance([], { functions })).at(-1)?.interposed).toEqual(['dlsym']);
  });

  it.each([
    ['the one object that could have put it there', [LAYER], LAYER],
    ['nobody if there are two', [LAYER, '/opt/other.so'], NO_FILE],
    ['nobody if there is none', [], NO_FILE],
  ])('code without a file belongs to %s', (_, paths, owner) => {
    const owners = { runtime: NO_FILE, dlsym: CUDA, linked: CUDA, bare: CUDA };
    const functions = [{ name: 'cuInit', owners, interposed: ['runtime'] }];
    const objects = paths.map((path) => ({ path, cudaExports: 0, exportsDlsym: true, exportsInit: false }));
    expect(interceptors(provenance([], { functions, objects })).map((found) => found.owner)).toEqual([owner]);
  });

  it('counts NVML functions', () => {
    const nvml = [
      { name: 'nvmlInit_v2', owners: { dlsym: LAYER, bare: '/usr/lib/libnvidia-ml.so.1' }, interposed: ['dlsym'] },
    ];
    expect(interceptors(provenance([], { nvml }))).toEqual([
      {
        owner: LAYER,
        functions: [],
        byPath: { runtime: [], dlsym: [], linked: [] },
        nvml: ['nvmlInit_v2'],
        patched: [],
      },
    ]);
  });
});
