import { describe, expect, it } from 'vitest';
import { metrics } from '../../../lib/metrics/registry.js';
import { makePlan } from '../../../lib/run/plan/plan.js';
import { processesText, withProcesses } from '../../../lib/run/plan/processes-per-round.js';
import type { Tier } from '../../../lib/results/document.js';
import { metricNamed } from '../../metric-named.js';

const NOISY = ['OH-001', 'OH-002', 'OH-003', 'OH-007', 'START-004'];
const BUDGET_SECONDS = 60;

const planned = (ids: readonly string[], systems: number, tier: Tier = 'standard') =>
  withProcesses(makePlan(ids.map(metricNamed), tier, 1), systems);
const added = (systems: number, tier: Tier = 'standard') => {
  const plan = makePlan(metrics, tier, 1);
  return withProcesses(plan, systems).estimatedSeconds - plan.estimatedSeconds;
};

describe('processes per round', () => {
  it('are several for the metrics whose recorded rounds differ most, in the order of their spread per second', () => {
    const { processes = {} } = planned(NOISY, 2);
    expect(Object.keys(processes).sort()).toEqual(NOISY);
    const ofWorkers = ['OH-001', 'OH-007', 'OH-003', 'OH-002'].map((id) => processes[id] ?? 1);
    expect(ofWorkers).toEqual([...ofWorkers].sort((a, b) => a - b));
    expect(processes['OH-002']).toBeGreaterThan(2 * (processes['OH-001'] ?? 1));
  });

  it.each([1, 2, 3, 5, 10])('add at most a minute to a round of %d systems, and add it to the estimate', (systems) => {
    expect(added(systems) * systems).toBeLessThanOrEqual(BUDGET_SECONDS);
    expect(added(systems, 'thorough') * systems).toBeLessThanOrEqual(BUDGET_SECONDS);
    expect(added(systems)).toBeGreaterThan(0);
  });

  it('are fewer if more systems share the minute', () => {
    const most = (systems: number) => planned(NOISY, systems).processes?.['OH-002'] ?? 1;
    expect(most(5)).toBeLessThan(most(2));
  });

  it('are never fewer than a metric starts without a plan', () => {
    expect(planned(['START-004'], 2, 'thorough').processes).toEqual({});
    for (const systems of [2, 3, 5, 10])
      expect(planned(NOISY, systems).processes?.['START-004'] ?? 4).toBeGreaterThanOrEqual(4);
  });

  it('stay one at tier quick, and for a metric whose rounds agree', () => {
    expect(planned(NOISY, 2, 'quick')).toEqual(makePlan(NOISY.map(metricNamed), 'quick', 1));
    expect(planned(['OH-004', 'START-002', 'OH-005'], 2).processes).toEqual({});
  });

  it('are named in the plan', () => {
    expect(processesText({ 'OH-003': 9, 'OH-002': 16 })).toBe('OH-002 16, OH-003 9');
    expect(processesText({})).toBeNull();
    expect(processesText()).toBeNull();
  });
});
