import { describe, expect, it } from 'vitest';
import {
  checkResumable,
  checkSameBuild,
  checkSameSystem,
  type Circumstances,
  manner,
} from '../../../lib/run/resume.js';
import { device, runDocument } from './fixtures.js';

const plan = runDocument().plan;
const now: Circumstances = { ...runDocument(), plan: { ...plan, metrics: ['OH-002', 'OH-001'], seed: 9 } };
const earlier = (change: Partial<Circumstances> = {}) =>
  runDocument({ plan: { ...plan, metrics: ['OH-001', 'OH-002'] }, ...change });

describe('the recorded command', () => {
  it('is text for any content of a document', () =>
    expect(manner({ ...plan, options: { iterations: { toString: 1 }, warmup: 5, resolution: '0.1' } })).toBe(
      'tier quick, path runtime, iterations {"toString":1}, warmup 5, resolution 0.1',
    ));
});

describe('finished rounds', () => {
  it('may be in another order, with another time limit', () => {
    const options = { timeoutSeconds: 5, samples: true, strict: false };
    const documents = [earlier(), earlier({ plan: { ...plan, metrics: ['OH-001', 'OH-002'], options } })];
    expect(() => checkResumable(documents, now)).not.toThrow();
  });

  it.each<[string, Partial<Circumstances>, string]>([
    [
      'a simulated GPU',
      { gpu: [{ ...device(0), simulated: true }] },
      'but received one with simulated NVIDIA Test, GPU-0aaaaaaa',
    ],
    [
      'another model',
      { gpu: [{ ...device(0), name: 'NVIDIA Other', simulated: false }] },
      'but received one with real NVIDIA Other, ',
    ],
    [
      'another card of the same model, whose rounds would be paired with those of this one',
      { gpu: [{ ...device(3), simulated: false }] },
      `, ${device(0).uuid}) but received one with real NVIDIA Test, ${device(3).uuid}:`,
    ],
    [
      'another driver',
      { driver: { ...runDocument().driver, version: '570.2' } },
      'driver as this one (580.1) but received one with 570.2:',
    ],
    [
      'a driver without a version',
      { driver: { ...runDocument().driver, version: null } },
      '(580.1) but received one with unknown:',
    ],
    [
      'another plan',
      { plan: { ...plan, metrics: ['OH-001'], tier: 'thorough', options: { iterations: 5 } } },
      '(tier quick, path runtime, OH-001, OH-002) but received one with tier thorough, path runtime, iterations 5, OH-001:',
    ],
    [
      'a plan with other processes per round',
      { plan: { ...plan, metrics: ['OH-001', 'OH-002'], processes: { 'OH-002': 16 } } },
      'received one with tier quick, path runtime, OH-001, OH-002, processes per round OH-002 16:',
    ],
    [
      'a plan that refused disturbed numbers',
      { plan: { ...plan, metrics: ['OH-001', 'OH-002'], options: { strict: true } } },
      'received one with tier quick, path runtime, strict true, OH-001, OH-002:',
    ],
  ])('may not be of %s in any round', (_, change, says) =>
    expect(() => checkResumable([earlier(), earlier(change)], now)).toThrow(says),
  );
});

describe('a system of finished rounds', () => {
  const system = { ...runDocument().system, name: 'mine', kind: 'custom', spec: 'custom:name=mine' };
  const round = (change: Partial<typeof system>) => runDocument({ system: { ...system, ...change } });
  const check = (now: Partial<typeof system>, before: Partial<typeof system>) => () =>
    checkSameSystem([round(before)], { ...system, ...now });

  it('may have paths of its own run directory', () =>
    expect(
      check({ settings: { CACHE: '/tmp/gvb-aaaaaa/mine/x' } }, { settings: { CACHE: '/tmp/gvb-bbbbbb/mine/x' } }),
    ).not.toThrow());

  it.each([
    ['another variable', { settings: { FL_LAUNCH_NS: '9000' } }, { settings: { FL_LAUNCH_NS: '1500' } }],
    ['a variable less', { settings: {} }, { settings: { FL_LAUNCH_NS: '1500' } }],
    ['another specification', { spec: 'custom:name=mine,prefix=nice' }, {}],
    ['another kind', { kind: 'fcsp' }, {}],
  ])('may not have %s', (_, now, before) => expect(check(now, before)).toThrow(/with the same set-up of mine as now/));

  it('may not load another build of its layer', () => {
    const layer = (sha256: string) => round({ layer: { path: '/layer.so', sha256, exports: 1, active: true } });
    expect(() => checkSameBuild([layer('a')], layer('a'))).not.toThrow();
    expect(() => checkSameBuild([layer('a'), layer('b')], layer('a'))).toThrow(
      /differs from the build .* \(SHA-256 a… against b…\)/,
    );
  });
});
