/**
 * The cost of a system to a program: how often the program calls each driver function, by its call profile, times what
 * interception adds to a call, from pairs in one process. A call without a price is listed and never counted as free.
 */
import { type CallProfile, callsOf, type Phase, stepsOf } from '../../results/call-profile.js';
import type { CallEffect, ProgramCost, RunDocument } from '../../results/document.js';
import { grouped } from '../../results/text/grouped.js';
import { mean } from '../../stats/mean.js';
import { againstZero } from '../../stats/rule/effect.js';
import type { Interval } from '../../stats/rule/estimate.js';
import { callEffects } from './call-effects.js';

/** A system's rounds; undefined if it was not measured in the same rounds as the others. */
type Arms = readonly (RunDocument | undefined)[];

/** OH-005 calls in a loop; a metric that makes single calls is closer to a program. */
const IN_A_LOOP = 'OH-005';

interface Price {
  metric: string;
  /** The call of the price, with the arguments that it was measured with, if known. */
  as: string;
  /** Price in each round in ns; 0 if the program gets the driver's own function in that round. */
  ns: number[];
}

type Priced = { price: Price } | { reason: string };

/** Why none of its documents can have prices, or null: OH-005 measures most calls. */
export const withoutPrices = (metrics: readonly string[]): string | null =>
  metrics.includes(IN_A_LOOP)
    ? null
    : `the prices of a call profile are measured by ${IN_A_LOOP}, which is not among the metrics`;

/** One entry per system and phase, in their orders. */
export function programCosts(profile: CallProfile, systems: readonly Arms[]): ProgramCost[] {
  return systems.flatMap((arms) => {
    const rounds = arms.filter((round) => round !== undefined);
    const system = rounds[0]?.system.name;
    return system === undefined ? [] : profile.phases.map((phase) => costOf(profile.name, phase, system, rounds));
  });
}

function costOf(profile: string, phase: Phase, system: string, all: readonly RunDocument[]): ProgramCost {
  const rounds = all.filter((round) => callEffects([[round]]).length > 0);
  const byCall = grouped(
    rounds.flatMap((round) => callEffects([[round]])),
    ({ call }) => call,
  );
  const steps = stepsOf(phase);
  const wanted = Object.entries(phase.calls).map(([call, count]) => ({ call, callsPerStep: count / steps }));
  const priced = wanted.map((each) => ({ ...each, ...priceOf(each.call, byCall, rounds) }));
  const calls = priced.flatMap((each) => ('price' in each ? [{ ...each, ...each.price }] : []));
  // Summed within a round first, so that the interval includes disturbances that affect all prices of a round.
  const sums = rounds.map((_, round) =>
    calls.reduce((sum, { callsPerStep, ns }) => sum + (callsPerStep * (ns[round] as number)) / 1e3, 0),
  );
  const tax = calls.length === 0 ? null : againstZero(sums);
  // Rounds that agree have an interval without a width: it describes them and decides nothing.
  const ci95 = tax && rounds.length > 1 ? (tax.ci95 ?? ([tax.value, tax.value] as Interval)) : null;
  const stepUs = (phase.seconds * 1e6) / steps;
  const percentOf = (us: number) => (100 * us) / stepUs;
  return {
    system,
    profile,
    phase: phase.name,
    steps: phase.steps,
    stepUs,
    callsPerStep: callsOf(phase) / steps,
    rounds: rounds.length,
    taxUs: tax?.value ?? null,
    ci95,
    percent: tax && stepUs > 0 ? percentOf(tax.value) : null,
    percentCi95: ci95 && stepUs > 0 ? (ci95.map(percentOf) as Interval) : null,
    calls: calls
      .map(({ call, metric, as, callsPerStep, ns }) => {
        const priceNs = mean(ns).value;
        return {
          call,
          metric,
          ...(as !== call && { as }),
          callsPerStep,
          priceNs,
          taxUs: (callsPerStep * priceNs) / 1e3,
        };
      })
      .sort((a, b) => Math.abs(b.taxUs) - Math.abs(a.taxUs) || b.callsPerStep - a.callsPerStep),
    missing: priced
      .flatMap((each) => ('reason' in each ? [each] : []))
      .sort((a, b) => b.callsPerStep - a.callsPerStep)
      .map(({ call, callsPerStep, reason }) => ({ call, callsPerStep, reason })),
  };
}

function priceOf(call: string, byCall: ReadonlyMap<string, CallEffect[]>, rounds: readonly RunDocument[]): Priced {
  const isPriced = (as: string) => as === call || as.startsWith(`${call} of `);
  const candidates = [...byCall.entries()].filter(([as]) => isPriced(as)).flatMap(([, found]) => byMetric(found));
  if (candidates.length === 0) return { reason: unpriced(call, byCall) };
  const isPatched = rounds.some(({ provenance }) => provenance.some(({ name, patched }) => name === call && patched));
  if (isPatched) return { reason: 'the driver’s code of it is patched, which no pair of pointers shows' };
  const [best] = candidates
    .filter(({ found }) => found.length === rounds.length)
    .sort((a, b) => rank(a, call) - rank(b, call));
  if (!best) {
    const most = Math.max(...candidates.map(({ found }) => found.length));
    return { reason: `measured in ${most} of ${rounds.length} rounds` };
  }
  const { metric, as, found } = best;
  return { price: { metric, as, ns: found.map(({ intercepted, overheadNs }) => (intercepted ? overheadNs : 0)) } };
}

interface Candidate {
  metric: string;
  /** `cuMemAlloc_v2`, or `cuMemAlloc_v2 of 2 MiB, 16 live`. */
  as: string;
  found: CallEffect[];
}

const byMetric = (found: readonly CallEffect[]): Candidate[] =>
  [...grouped(found, ({ metric }) => metric)].map(([metric, each]) => ({
    metric,
    as: (each[0] as CallEffect).call,
    found: each,
  }));

/**
 * Preference for a price: single calls, as a program makes them, before calls in a loop, and those before prices with
 * arguments that represent all others.
 */
function rank({ metric, as }: Candidate, call: string): number {
  if (as !== call) return 2;
  return metric === IN_A_LOOP ? 1 : 0;
}

/** Another ABI or stream variant is another function, which a layer may or may not hook. */
function unpriced(call: string, byCall: ReadonlyMap<string, unknown>): string {
  const base = call.replace(/(_v\d+)?(_pt[sd][sz])?$/, '');
  const other = [...byCall.keys()].find((name) => name !== call && name.replace(/_v\d+$/, '') === base);
  return other === undefined ? 'not measured' : `not measured; ${other} is, which a layer may treat otherwise`;
}
