/** OH-008 recovers the duration of the interposer's token, in tenants of a custom system with and without a limit. */
import { join } from 'node:path';
import { quantileSorted } from 'simple-statistics';
import { describe, expect, it } from 'vitest';
import type { MetricResult } from '../../../lib/results/document.js';
import { rateLimiterOverhead } from '../../../lib/metrics/overhead/oh-008-rate-limiter.js';
import { median } from '../../../lib/stats/median.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import type { Attestation } from '../../../lib/systems/system.js';
import { command, parseComparison } from '../../cli/command.js';
import { emptyFolder } from '../../native/child.js';
import { durationOf, LOOP_READINGS, type Recorded, recordedByProcess } from '../../native/record.js';
import { type Estimate, expectRecovered, type Truth, WIDENING } from '../../native/recovered.js';
import { measureNoting } from '../../noting-system.js';
import { undisturbed } from '../../undisturbed.js';

const LIBRARY = interposerLibrary() ?? '';
/** `smCap`: it does not limit time, so no load checks the limit. */
const LIMITED = 'limits.sm=40,capabilities.computeLimit=smCap';
const TOKEN_NS = 3_000;
const CALLS = ['cuLaunchKernel', 'cuLaunchKernelEx', 'cuLaunchCooperativeKernel', 'cuGraphLaunch'];

interface Row {
  call: string;
  grid: number;
  overheadNs: number;
  ci95: [number, number] | null;
  withoutNs: number;
  count: number;
  waits: number;
  failed?: string;
}

/** `others`: metrics in addition to OH-008. */
async function compared(layer: string, args: readonly string[], sim = '', others: readonly string[] = []) {
  const record = emptyFolder();
  const system = `custom:name=layer,${LIMITED},env.LD_PRELOAD=${LIBRARY},env.GVB_INTERPOSE=${layer},env.GVB_INTERPOSE_RECORD=${record}`;
  const { stdout } = await command(
    ['compare', 'OH-008', ...others, '--simulate', '--seed', '4', '--rounds', '1', '--json', '-', ...args].concat([
      '--system',
      'native',
      '--system',
      system,
      '--output',
      join(emptyFolder(), 'out'),
    ]),
    {},
    `init_ms=1,context_ms=1,alloc_us=2,free_us=2,record=${record}${sim}`,
  );
  const processes = recordedByProcess(record).filter(isOfLimiter);
  const documents = parseComparison(stdout).systems.map(([document]) => document?.metrics as MetricResult[]);
  const of = (system: number, id: string) => documents[system]?.find((metric) => metric.id === id) as MetricResult;
  return { native: of(0, 'OH-008'), layer: of(1, 'OH-008'), other: of(1, 'OH-007'), processes };
}

/**
 * The same for a layer under which no launch waits: on a busy machine one may take as long as a wait, and the metric
 * reports it.
 */
const comparedUndisturbed: typeof compared = (...request) =>
  undisturbed(
    () => compared(...request),
    ({ layer, other }) => [layer, other],
  );

/**
 * The time that the token added to the hooks, by place in the sequence of launches that every tenant makes, without a
 * tenth of the places at either end: the first launch of a kind costs more with and without a token, and a preemption
 * can hit any place. In ns, with the loop's own cost.
 */
function addedByHook(processes: readonly Recorded[]): [least: number, most: number] {
  const hooks = processes
    .map((process) => process.hooked('cuLaunchKernel').map(durationOf))
    .sort((a, b) => median(a).value - median(b).value);
  const [without, limited] = [hooks.slice(0, hooks.length / 2), hooks.slice(hooks.length / 2)];
  const at = (of: readonly number[][], place: number) => median(of.map((process) => process[place] as number)).value;
  const added = (limited[0] ?? []).map((_, place) => at(limited, place) - at(without, place));
  const sorted = added.sort((a, b) => a - b);
  const toleranceNs = 2 * LOOP_READINGS * Math.max(...processes.map(({ readingNs }) => readingNs));
  return [quantileSorted(sorted, 0.1) - toleranceNs, quantileSorted(sorted, 0.9) + toleranceNs];
}

/** OH-008's turns at tier quick; each has this many warm-up launches. */
const TURNS = 10;
const WARMUP = 3;

/** The recorded launches of a kind in one tenant, by turn, without warm-up. */
function launchesByTurn(tenant: Recorded, call: string): number[][] {
  const launches = tenant.named(call).map(durationOf);
  const ofTurn = launches.length / TURNS;
  expect(Number.isInteger(ofTurn) && ofTurn > WARMUP).toBe(true);
  return Array.from({ length: TURNS }, (_, turn) => launches.slice(turn * ofTurn + WARMUP, (turn + 1) * ofTurn));
}

/**
 * The time that the limit added to the launches of a kind, including the driver's calls: with it minus without, by
 * turn.
 */
function addedByLimit(processes: readonly Recorded[], call: string): Truth {
  const tenants = processes.map((process) => process.joined());
  const hookOf = (tenant: Recorded) => median(tenant.named('cuLaunchKernel').map(durationOf)).value;
  const sorted = [...tenants].sort((a, b) => hookOf(a) - hookOf(b));
  expect(sorted).toHaveLength(2);
  const [without, limited] = sorted.map((tenant) => launchesByTurn(tenant, call)) as [number[][], number[][]];
  const added = limited.map((launches, turn) => median(launches).value - median(without[turn] as number[]).value);
  const { value, ci95 } = median(added);
  if (!ci95) throw new Error(`The recorded turns of ${call} have no interval.`);
  // The tolerance covers two processes, each with the loop's own cost, which differs by less than itself.
  const tolerance = 2 * LOOP_READINGS * Math.max(...tenants.map(({ readingNs }) => readingNs));
  // If the machine disturbs some turns, their record varies as much as they do.
  const resolution = Math.max(TOKEN_NS / 2, tolerance + ci95[1] - ci95[0]);
  return { truth: value, tolerance, resolution };
}

/** No other metric launches cooperative kernels. */
const isOfLimiter = (process: Recorded) => process.named('cuLaunchCooperativeKernel').length > 0;

const calls = ({ details }: MetricResult) => details.calls as Row[];
const estimate = ({ overheadNs, ci95 }: Row): Estimate => ({ value: overheadNs, ci95 });

describe('OH-008', () => {
  it('recovers the token of every launch that takes one, and none of graphs', async () => {
    const { native, layer, other, processes } = await comparedUndisturbed(
      `token=${TOKEN_NS}ns@{smPercent}`,
      ['--tier', 'quick', '--iterations', '60'],
      '',
      ['OH-007'],
    );
    expect(native).toMatchObject({ status: 'unsupported', value: null, reason: 'layer has no compute limit' });
    expect(layer).toMatchObject({ status: 'ok', processes: 2, ciScope: 'within-process' });
    expect(calls(layer).map(({ call }) => call)).toEqual(CALLS);
    expectRecovered(
      calls(layer).map((row) => {
        return [row.call, estimate(row), addedByLimit(processes, row.call)] as const;
      }),
    );
    const [headline] = calls(layer);
    expect([layer.value, layer.ci95]).toEqual([headline?.overheadNs, headline?.ci95]);
    expect(layer.details).toMatchObject({ limitPercent: 40, pairs: 1, grids: [] });
    expect(layer.checks).toContainEqual(
      expect.objectContaining({ name: 'the limit reaches the workers', passed: true }),
    );
    // The round's own tenant continues afterwards.
    expect(other.status).toBe('ok');
  });

  it('has an interval over processes, and the cost of grids, at tier thorough', async () => {
    const args = ['--tier', 'thorough', '--iterations', '4', '--warmup', '1'];
    const { layer, processes } = await comparedUndisturbed('token=2us@{smPercent}', args);
    expect(layer).toMatchObject({ status: 'ok', processes: 16, ciScope: 'between-processes' });
    expect(layer.blocks).toHaveLength(8);
    expect(layer.stats?.count).toBe(8 * 4);
    const grids = layer.details.grids as Row[];
    expect(grids.map(({ call, grid }) => `${call} ${grid}`)).toEqual(
      CALLS.flatMap((call) =>
        (call === 'cuLaunchCooperativeKernel' ? [1, 64] : [1, 64, 4_096, 65_535]).map((grid) => `${call} ${grid}`),
      ),
    );
    // Eight pairs of four launches each: if the machine disturbs them, the interval is wide but contains the true
    // value. If they then depend on each other, there is none.
    if (layer.ci95 === null) return expect(layer.noInterval).toMatch(/depend on each other/);
    const [low, high] = layer.ci95;
    const more = (WIDENING - 1) * ((high - low) / 2);
    const [least, most] = addedByHook(processes);
    expect(low - more).toBeLessThan(most);
    expect(high + more).toBeGreaterThan(least);
  });
});

// These tests run in parallel, because they do not check times closely.
describe.concurrent('OH-008', () => {
  it('is invalid if a launch waited for a token', async () => {
    const args = ['--tier', 'quick', '--iterations', '10', '--warmup', '1'];
    const { layer } = await compared('token=12ms@{smPercent}', args);
    expect(layer).toMatchObject({ status: 'invalid', value: null, stats: null });
    expect(layer.reason).toMatch(/^demand was not below the budget: longest launch with the limit \d+\.\d+ ms/);
    expect(calls(layer)[0]?.waits).toBe(10);
    // A graph takes no token: only disturbances by the machine last as long, inside or around the recorded call.
    expect(calls(layer)[3]?.waits).toBeLessThan(5);
  });

  it('fails with the code of a failing launch, or only in its row if it is not the headline', async () => {
    const args = ['--tier', 'quick', '--iterations', '20', '--warmup', '1'];
    const { layer } = await compared('token=0ns@{smPercent}', args, ',fail=cuLaunchKernel:1@5');
    expect(layer).toMatchObject({ status: 'failed', value: null });
    expect(layer.reason).toMatch(/^cuLaunchKernel returned CUDA_ERROR_INVALID_VALUE \(1\)/);
    const cooperative = await comparedUndisturbed(
      'token=0ns@{smPercent}',
      args,
      ',fail=cuLaunchCooperativeKernel:801@5',
    );
    expect(cooperative.layer.status).toBe('ok');
    expect(calls(cooperative.layer)[2]?.failed).toMatch(/^cuLaunchCooperativeKernel returned CUDA_ERROR_NOT_SUPPORTED/);
  });

  it('reports that workers start alike if nothing passes the limit to them', async () => {
    const args = ['--tier', 'quick', '--iterations', '20', '--warmup', '1'];
    const { layer } = await comparedUndisturbed('token=1us', args);
    expect(layer.status).toBe('ok');
    expect(layer.checks).toContainEqual(
      expect.objectContaining({ name: 'the limit reaches the workers', passed: 'not checked' }),
    );
  });
});

describe('the tenants of OH-008', () => {
  const measureUnder = (attested: Partial<Attestation>) =>
    measureNoting(rateLimiterOverhead, { attested, iterations: 6 });

  const turns = (...tenants: string[]) => tenants.flatMap((tenant) => ['between', `prepare ${tenant}`, 'reap 1']);

  it("run one after the other under different limits, between removing and restoring the round's tenant", async () => {
    const { asked, measured } = await measureUnder({});
    expect(measured).toMatchObject({ processes: 2, details: { limitPercent: 50 } });
    expect(asked).toEqual(['reap 0', ...turns('1 at 100', '1 at 50'), 'between', 'prepare 0']);
  });

  it('are unsupported if the layer reports that its limit is off', async () => {
    const { measured } = await measureUnder({ computeLimitUnsupported: 'layer cannot see its process' });
    expect(measured).toMatchObject({ status: 'unsupported', reason: 'layer cannot see its process', value: null });
  });

  it("are not measured if the layer is not active, and the round's state is restored", async () => {
    const { asked, measured } = await measureUnder({ invalid: 'layer not active: nobody owns it' });
    expect(measured).toMatchObject({
      code: 'INVALID_RESULT',
      message: expect.stringMatching(/^layer not active: nobody/),
    });
    expect(asked).toEqual(['reap 0', ...turns('1 at 100'), 'between', 'prepare 0']);
  });
});
