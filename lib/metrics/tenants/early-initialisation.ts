/**
 * Detects work that was done before the timed step: a driver initialised when a layer was loaded, or an existing
 * context.
 */
import type { Check, MetricResult } from '../../results/document.js';
import type { StartUpAnswer } from '../../workers/start-up.js';
import type { Measured } from '../core/metric.js';

type Start = Pick<StartUpAnswer, 'initialisedAt' | 'interposer' | 'preloaded' | 'contextWasActive'>;

const WHEN = { 'process start': 'at load', load: 'at load', 'look-up': 'at look-up' } as const;

/**
 * A smaller fraction of native's cuInit cannot be an initialisation: with a warm MPS server it is a tenth (10 ms of 93
 * on an H200).
 */
const LEAST_SHARE_OF_NATIVE = 0.01;

const ownerOf = ({ interposer, preloaded }: Start): string =>
  interposer ?? (preloaded.length > 0 ? preloaded.join(', ') : 'an unknown object');

/**
 * Why cuInit's time is not that of an initialisation, or null. `timed`: the moments before the metric's timed step.
 */
export function earlyInitialisation(
  starts: readonly Start[],
  timed: readonly (keyof typeof WHEN)[] = ['process start', 'load', 'look-up'],
): string | null {
  for (const start of starts) {
    const moment = timed.find((each) => each === start.initialisedAt);
    if (moment) return `the driver was initialised before cuInit (${ownerOf(start)}, ${WHEN[moment]})`;
  }
  return null;
}

export function initialisationCheck(starts: readonly Start[]): Check {
  const early = earlyInitialisation(starts);
  const unknown = starts.some(({ initialisedAt }) => initialisedAt === 'unknown');
  return {
    name: 'the driver was initialised by cuInit',
    passed: early !== null ? false : unknown ? 'not checked' : true,
    detail: early ?? (unknown ? 'no device files of a driver are known here' : 'its device files were opened by it'),
  };
}

/** Why the time of the retain is not that of creating a context, or null. */
export function earlyContext(starts: readonly Start[]): string | null {
  const start = starts.find(({ contextWasActive }) => contextWasActive === true);
  return start ? `the primary context existed before it was retained (${ownerOf(start)})` : null;
}

export function contextCheck(starts: readonly Start[]): Check {
  const reason = earlyContext(starts);
  const unknown = starts.some(({ contextWasActive }) => contextWasActive === null);
  return {
    name: 'the primary context was created by the retain',
    passed: reason !== null ? false : unknown ? 'not checked' : true,
    detail: reason ?? (unknown ? 'the driver does not report its state' : 'it was inactive before'),
  };
}

/** A result without a number. */
export const early = (reason: string | null): Pick<Measured, 'status' | 'reason'> =>
  reason === null ? {} : { status: 'invalid', reason };

function initOf({ details }: MetricResult): number | null {
  const steps: unknown = details.steps;
  if (!Array.isArray(steps)) return null;
  const init = (steps as Record<string, unknown>[]).find(({ step }) => step === 'init');
  const value = init?.valueMs ?? init?.valueUs;
  return typeof value === 'number' ? value : null;
}

/** For two results of one metric: why the first one's cuInit cannot have initialised the driver. */
export function implausibleInit(own: MetricResult, native: MetricResult): string | null {
  const [took, natively] = [initOf(own), initOf(native)];
  if (took === null || natively === null || took >= LEAST_SHARE_OF_NATIVE * natively) return null;
  const share = ((100 * took) / natively).toPrecision(2);
  return `the driver was initialised before cuInit: it took ${share} % of the native arm's`;
}
