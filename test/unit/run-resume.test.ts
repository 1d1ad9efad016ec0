import { describe, expect, it } from 'vitest';
import { checkResumable, type Circumstances, manner } from '../../lib/run/resume.js';
import { device, runDocument } from './run-fixtures.js';

const plan = runDocument().plan;
const now: Circumstances = { ...runDocument(), plan: { ...plan, metrics: ['OH-002', 'OH-001'], seed: 9 } };
const earlier = (change: Partial<Circumstances> = {}) =>
  runDocument({ plan: { ...plan, metrics: ['OH-001', 'OH-002'] }, ...change });

describe('how it was asked for', () => {
  it('is text whatever a document holds', () =>
    expect(manner({ ...plan, options: { iterations: { toString: 1 }, warmup: 5, resolution: '0.1' } })).toBe(
      'tier quick, path runtime, iterations {"toString":1}, warmup 5, resolution 0.1',
    ));
});

describe('finished rounds', () => {
  it('may be of another card of the same model, in another order, with another time limit', () => {
    const gpu = [{ ...device(3), simulated: false }];
    const options = { timeoutSeconds: 5, samples: true, strict: false };
    const documents = [earlier(), earlier({ gpu, plan: { ...plan, metrics: ['OH-001', 'OH-002'], options } })];
    expect(() => checkResumable(documents, now)).not.toThrow();
  });

  it.each<[string, Partial<Circumstances>, string]>([
    [
      'a simulated GPU',
      { gpu: [{ ...device(0), simulated: true }] },
      'GPU of this one (real NVIDIA Test) but received one with another (simulated NVIDIA Test)',
    ],
    [
      'another model',
      { gpu: [{ ...device(0), name: 'NVIDIA Other', simulated: false }] },
      '(real NVIDIA Test) but received one with another (real NVIDIA Other)',
    ],
    [
      'another driver',
      { driver: { ...runDocument().driver, version: '570.2' } },
      'driver of this one (580.1) but received one with another (570.2)',
    ],
    [
      'a driver without a version',
      { driver: { ...runDocument().driver, version: null } },
      '(580.1) but received one with another (unknown)',
    ],
    [
      'another plan',
      { plan: { ...plan, metrics: ['OH-001'], tier: 'thorough', options: { iterations: 5 } } },
      '(tier quick, path runtime, OH-001, OH-002) but received one with another (tier thorough, path runtime, iterations 5, OH-001)',
    ],
    [
      'a plan that refused disturbed numbers',
      { plan: { ...plan, metrics: ['OH-001', 'OH-002'], options: { strict: true } } },
      '(tier quick, path runtime, strict true, OH-001, OH-002)',
    ],
  ])('may not be of %s, whichever round it is', (_, change, says) =>
    expect(() => checkResumable([earlier(), earlier(change)], now)).toThrow(says),
  );
});
