/** OH-005, `details.profiles[]`: the cost of one process's prices in a step of a program, by its call profile. */
import { described, interval, quantity, rows, text } from '../core/details.js';
import * as v from 'valibot';
import { type CallProfile, callsOf, type Phase, stepsOf } from '../../results/call-profile.js';
import type { MetricResult, RunDocument } from '../../results/document.js';
import { weightedSum } from './weighted-sum.js';

const finite = v.pipe(v.number(), v.finite());

const functionSchema = v.object({
  name: v.string(),
  intercepted: v.boolean(),
  overheadNs: finite,
  ci95: v.nullable(v.tuple([finite, finite])),
});

type Row = v.InferOutput<typeof functionSchema>;

export const profilePricesSchema = rows(
  v.strictObject({
    name: text('The profile, and its phase if it has several'),
    callsPerStep: described(finite, 'Driver calls in a step'),
    taxUs: v.nullable(quantity('us', 'What interception adds to a step; null if none of its calls was measured')),
    ci95: interval('us', 'taxUs'),
    missing: rows(
      v.strictObject({ call: text('The call'), callsPerStep: described(finite, 'How often a step makes it') }),
      'Calls that were not measured and are in no sum',
    ),
  }),
  'What interception adds to a step of a program, by its call profile (--profile)',
);

type ProfilePrice = v.InferOutput<typeof profilePricesSchema>[number];

/** The headline is unchanged. */
export const withProfilePrices = (round: RunDocument, profile: CallProfile): RunDocument => ({
  ...round,
  metrics: round.metrics.map((result) =>
    result.id === 'OH-005' && result.status === 'ok'
      ? { ...result, details: { ...result.details, profiles: profilePrices(result.details, profile) } }
      : result,
  ),
});

export function profilePrices(details: MetricResult['details'], { name, phases }: CallProfile): ProfilePrice[] {
  const rows = [details.functions].flat().flatMap((row) => {
    const read = v.safeParse(functionSchema, row);
    return read.success ? [read.output] : [];
  });
  const byName = new Map(rows.map((row) => [row.name, row]));
  return phases.map((phase) => ({
    name: phases.length === 1 ? name : `${name}: ${phase.name}`,
    ...priceOf(phase, byName),
  }));
}

function priceOf(phase: Phase, byName: ReadonlyMap<string, Row>): Omit<ProfilePrice, 'name'> {
  const steps = stepsOf(phase);
  const calls = Object.entries(phase.calls).map(([call, count]) => ({ call, callsPerStep: count / steps }));
  const priced = calls.flatMap(({ call, callsPerStep }) => {
    const row = byName.get(call);
    return row ? [{ callsPerStep, row }] : [];
  });
  // Functions that are not intercepted cost the program nothing; their measured overhead is measurement error.
  const paid = priced.filter(({ row }) => row.intercepted);
  const taxNs = weightedSum(paid.map(({ callsPerStep, row }) => ({ ...row, weight: callsPerStep })));
  return {
    callsPerStep: callsOf(phase) / steps,
    taxUs: priced.length === 0 ? null : taxNs.value / 1e3,
    ci95: priced.length === 0 || !taxNs.ci95 ? null : [taxNs.ci95[0] / 1e3, taxNs.ci95[1] / 1e3],
    missing: calls.filter(({ call }) => !byName.has(call)),
  };
}
