/** OH-005, `details.profiles[]`: what one process's prices come to in a step of a program, by its call profile. */
import * as v from 'valibot';
import { type CallProfile, callsOf, type Phase, stepsOf } from '../../results/call-profile.js';
import type { MetricResult, RunDocument } from '../../results/document.js';

const finite = v.pipe(v.number(), v.finite());

const functionSchema = v.object({
  name: v.string(),
  intercepted: v.boolean(),
  overheadNs: finite,
  ci95: v.nullable(v.tuple([finite, finite])),
});

type Row = v.InferOutput<typeof functionSchema>;

export interface ProfilePrice {
  name: string;
  callsPerStep: number;
  /** Null where no call of it was measured. */
  taxUs: number | null;
  ci95: [number, number] | null;
  /** Calls that were not measured, and are in no sum. */
  missing: { call: string; callsPerStep: number }[];
}

/** The headline stays what it is. */
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
  // Nobody stands between the program and the driver there: what was measured is what the measurement is off by.
  const paid = priced.filter(({ row }) => row.intercepted);
  const taxNs = paid.reduce((sum, { callsPerStep, row }) => sum + callsPerStep * row.overheadNs, 0);
  return {
    callsPerStep: callsOf(phase) / steps,
    taxUs: priced.length === 0 ? null : taxNs / 1e3,
    ci95: priced.length === 0 ? null : intervalOf(paid, taxNs),
    missing: calls.filter(({ call }) => !byName.has(call)),
  };
}

/** Functions are measured in turn, so that within a process their errors are independent: they add up by squares. */
function intervalOf(paid: readonly { callsPerStep: number; row: Row }[], taxNs: number): [number, number] | null {
  if (paid.some(({ row }) => row.ci95 === null)) return null;
  const halfNs = (end: 0 | 1) =>
    Math.hypot(...paid.map(({ callsPerStep, row }) => callsPerStep * ((row.ci95?.[end] ?? 0) - row.overheadNs)));
  return [(taxNs - halfNs(0)) / 1e3, (taxNs + halfNs(1)) / 1e3];
}
