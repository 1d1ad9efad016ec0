/** What a result says about its samples. */
import type { MetricResult, Stats } from '../../results/document.js';
import { FEWEST_EFFECTIVE } from '../../stats/long-run.js';
import { serialMedian, withoutInterval } from '../../stats/serial.js';
import { summarise } from '../../stats/summary.js';
import type { Measured } from './metric.js';

/** Samples of one process in their order; those of several processes are independent of each other. */
const serialOf = ({ headline, blocks, ciScope }: Measured): Float64Array | null => {
  const samples = ciScope === 'between-processes' ? null : (blocks ?? headline);
  return samples && samples.length > 0 ? samples : null;
};

/** Statistics of the samples behind a value; null without samples. */
function sampleStats(measured: Measured): Stats | null {
  const stats = measured.headline ? summarise(measured.headline) : null;
  const serial = serialOf(measured);
  return stats && serial ? { ...stats, effectiveSamples: serialMedian(serial).effectiveSamples } : stats;
}

/** The interval of a figure of time windows or requests, and why it has none; nothing of it where there is no figure. */
export const windowInterval = (ci95: Measured['ci95'] | false | undefined): Pick<Measured, 'ci95' | 'noInterval'> =>
  ci95
    ? { ci95 }
    : {
        ci95: null,
        noInterval: `fewer than ${FEWEST_EFFECTIVE} of the measured windows are independent, or all are equal`,
      };

/** The number of a result with its interval and statistics, or why it has none; unproven samples are not published. */
export function figuresOf(measured: Measured) {
  const { status = 'ok', reason, value, ci95 } = measured;
  if (status === 'ok' && value !== null)
    return {
      status,
      ...(reason !== undefined && { reason }),
      value,
      ci95,
      ...noInterval(measured),
      stats: sampleStats(measured),
    };
  const [why, because] = status === 'ok' ? (['invalid', 'ok without a value'] as const) : ([status, status] as const);
  return { status: why, reason: reason ?? because, value: null, ci95: null, stats: null };
}

/** Why a value has no interval, if its samples are the reason. */
function noInterval(measured: Measured): Pick<MetricResult, 'noInterval'> {
  if (measured.ci95 !== null || measured.value === null) return {};
  if (measured.noInterval !== undefined) return { noInterval: measured.noInterval };
  const serial = serialOf(measured);
  if (serial === null) return {};
  const why =
    withoutInterval(serialMedian(serial).effectiveSamples, serial.length) ??
    (serial.every((sample) => sample === serial[0])
      ? 'all samples are equal, and the step of their clock is not known'
      : null);
  return why === null ? {} : { noInterval: why };
}
