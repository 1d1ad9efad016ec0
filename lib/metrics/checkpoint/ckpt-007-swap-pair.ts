/** CKPT-007: how long it takes until another tenant has the card, where both do not fit. */
import * as v from 'valibot';
import type { Check, MetricResult } from '../../results/document.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { median } from '../../stats/median.js';
import { count, quantity, rows } from '../core/details.js';
import { measureFunction } from '../core/measure-function.js';
import { invalidBy, type MetricDefinition, unsupported } from '../core/metric.js';
import { NS_PER_MS } from '../core/units.js';
import { ceilingGbs, describedLink, linkDetails } from '../pcie/link.js';
import { wholeStarts } from '../tenants/fresh-processes.js';
import { restoredCheck } from './checks.js';
import { noHostRoom } from './held-targets.js';
import { copiesCheck, movedTooFast, secondsOnLink } from './moved.js';
import { MS_PER_S } from './rates.js';
import { type Swap, type Swaps, swapsOf } from './swapped-pairs.js';
import { ms } from './target-study.js';

const SWAPS = { quick: 2, standard: 6, thorough: 12 } as const;
const NS_PER_S = 1e9;
/** Part of what each holds: what other processes may take or give back meanwhile. */
const SLACK = 0.05;

const details = v.strictObject({
  bytes: count('Bytes that each tenant holds'),
  swaps: rows(
    v.strictObject({
      seconds: quantity('s', 'From the call of the lock of the one to the first result of the other'),
      lockMs: quantity('ms', 'Time of the lock of the one'),
      checkpointMs: quantity('ms', 'Time of its checkpoint'),
      restoreMs: quantity('ms', 'Time of the restore of the other'),
      unlockMs: quantity('ms', 'Time of its unlock'),
      firstResultMs: quantity('ms', 'Time of its first work'),
      mostBytes: v.nullable(count('Most memory of the card in use meanwhile, by NVML; null: not known')),
    }),
    'A row per swap',
  ),
  coldStartSeconds: quantity(
    's',
    'From the spawn of a new process to its first result (START-001), with nothing loaded',
  ),
  ofColdStart: quantity('', 'The value divided by coldStartSeconds'),
  linkSeconds: v.nullable(quantity('s', 'What the link needs for the bytes out and in; null if its rate is not known')),
  ofLink: v.nullable(quantity('', 'The value divided by linkSeconds; null if the rate of the link is not known')),
  link: linkDetails,
});

export type SwapPairDetails = v.InferOutput<typeof details>;

/** Both at once would need more than what one had before. */
export function turnsCheck({
  bytes,
  swaps,
  totalBytes,
}: Pick<Swaps, 'bytes' | 'totalBytes'> & { swaps: readonly Pick<Swap, 'usedBytes'>[] }): Check {
  const name = 'the memory in use stays that of one tenant';
  const known = swaps.flatMap(({ usedBytes: { before, most } }) =>
    before === null || most === null ? [] : [{ before, most }],
  );
  if (known.length === 0) return { name, passed: 'not checked', detail: "NVML's memory in use is not known" };
  const beyond = known.find(
    ({ before, most }) => most > before + SLACK * bytes || (totalBytes !== null && most > totalBytes),
  );
  return {
    name,
    passed: beyond === undefined,
    detail: beyond
      ? `${formatBytes(beyond.most)} were in use during a swap, and ${formatBytes(beyond.before)} before`
      : `at most ${formatBytes(Math.max(...known.map(({ most }) => most)))}, in ${known.length} swaps`,
  };
}

function impossible({ value, details: own }: Pick<MetricResult, 'value' | 'details'>): string | null {
  const parsed = v.safeParse(v.object({ bytes: v.number() }), own);
  return value === null || !parsed.success ? null : movedTooFast(2 * parsed.output.bytes, value * MS_PER_S, own);
}

export const swapPair: MetricDefinition<SwapPairDetails> = {
  id: 'CKPT-007',
  name: 'Swap Pair',
  category: 'checkpoint',
  unit: 's',
  direction: 'lower',
  question: 'How long does it take to give the card to another tenant, where both do not fit?',
  estimator:
    'median over swaps of two processes, of the time from the lock of the one to the first result of the other',
  delta: { relative: 0.1 },
  needs: ['checkpoints (driver 570)', 'fresh processes', 'host memory for what two tenants hold'],
  functionName: 'measureSwapPair',
  where: 'fresh-processes',
  impossible,
  details,
  seconds: { quick: 180, standard: 400, thorough: 800 },
  deadlineSeconds: 14_400,
  async measure(context) {
    const { iterations, tier } = context.options;
    const pair = await swapsOf(context, {
      swaps: iterations ?? SWAPS[tier],
      refused: (bytes, cardBytes) =>
        2 * bytes <= cardBytes
          ? `two tenants that hold ${formatBytes(bytes)} each, as they may, fit together: ${formatBytes(cardBytes)} are free`
          : noHostRoom(context, 2 * bytes, 'a pair of tenants'),
    });
    if ('why' in pair) return unsupported(pair.why);
    const { bytes, swaps, link } = pair;
    const starts = await wholeStarts(context);
    const headline = Float64Array.from(swaps, ({ tookNs }) => tookNs / NS_PER_S);
    const { value, ci95 } = median(headline);
    const coldStartSeconds = median(starts.map(({ spawnToResultNs }) => spawnToResultNs / NS_PER_S)).value;
    const ceiling = ceilingGbs(link);
    const linkSeconds = ceiling === null ? null : secondsOnLink(2 * bytes, ceiling);
    const checks = [
      turnsCheck(pair),
      restoredCheck([{ bytes, turns: swaps }]),
      copiesCheck(
        link,
        bytes,
        swaps.map(({ move }) => move),
      ),
    ];
    return {
      ...invalidBy(checks),
      value,
      ci95,
      processes: 2,
      ciScope: 'within-process',
      headline,
      details: {
        bytes,
        swaps: swaps.map(({ tookNs, move, firstResultNs, usedBytes }) => ({
          seconds: tookNs / NS_PER_S,
          lockMs: ms(move.lock),
          checkpointMs: ms(move.checkpoint),
          restoreMs: ms(move.restore),
          unlockMs: ms(move.unlock),
          firstResultMs: firstResultNs / NS_PER_MS,
          mostBytes: usedBytes.most,
        })),
        coldStartSeconds,
        ofColdStart: value / coldStartSeconds,
        linkSeconds,
        ofLink: linkSeconds === null ? null : value / linkSeconds,
        link: describedLink(link),
      },
      checks,
    };
  },
};

/**
 * CKPT-007, s: from the lock of a process to the first result of another one that did not fit beside it; `details.swaps[]`
 * has the calls, `details.ofColdStart` and `details.ofLink` what the value is compared to. `iterations` counts swaps.
 */
export const measureSwapPair = measureFunction(swapPair);
