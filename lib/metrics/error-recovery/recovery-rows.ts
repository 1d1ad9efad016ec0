/** The table of ERR-002, a row per way in which a process ended, and what is checked of it. */
import * as v from 'valibot';
import type { Check } from '../../results/document.js';
import { median } from '../../stats/median.js';
import { choice, count, interval, quantity, rows as table, text } from '../core/details.js';
import { isTold } from '../isolation/shared/faults.js';
import { STEPS } from '../tenants/fresh-processes.js';
import { MIB, NS_PER_US } from '../core/units.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { type Crash, ILLEGAL_ADDRESS } from './crashes.js';
import type { Recovery, Reset, Started } from './recoveries.js';

/** What happens in every round, in this order, all in one tenant. */
export interface Round {
  untroubled: Started;
  recoveries: Recovery[];
  reset: Reset | null;
}

/** Less than the blocks that a killed process allocates; more than fillings of the memory differ. */
const QUOTA_SLACK_BYTES = 8 * MIB;
const NEW_PROCESS = 'new process';
const SAME_PROCESS = 'same process, context reset';

const common = {
  fault: text('How the process ended, or what its kernel did wrong'),
  told: table(v.string(), 'The different errors or signals that it, or its parent, was told'),
  processes: count('Processes to which it happened'),
  recovered: count('Processes after which one worked again'),
  recoveryUs: v.nullable(
    quantity(
      'us',
      'Median time from the error to the first result, for new processes minus a start that no error precedes; null without one',
    ),
  ),
  ci95: interval('us', 'recoveryUs'),
  refusals: table(v.string(), 'Why processes, or resets, did not work'),
  xids: v.nullable(table(count('Xid'), 'Errors that the card reported by NVML; null if it reports none here')),
};

/** Details: how a tenant worked again, with a row per way. */
export const recoveryTable = table(
  v.union([
    v.strictObject({
      ...common,
      way: choice([NEW_PROCESS], 'What works in its place'),
      toldToResultUs: v.nullable(quantity('us', 'Median time from the error to the first result; null without one')),
      toldToEndUs: v.nullable(quantity('us', "Median time from the error to the process's end; null without one")),
      mostTries: count('Most processes that were started until one worked'),
      missingBytes: count('Memory that a successor could not allocate any more, at most (bytes)'),
      slowerSteps: table(
        v.strictObject({
          step: text('The step of a start'),
          moreUs: quantity('us', 'Median of how much longer it took than in the start that no error precedes'),
        }),
        'How much longer each step of the start took',
      ),
    }),
    v.strictObject({
      ...common,
      way: choice([SAME_PROCESS], 'What works in its place'),
      reset: table(v.string(), 'The different answers to the reset of the context'),
    }),
  ]),
  'A row per way to end and to work again',
);

type RecoveryRow = v.InferOutput<typeof recoveryTable>[number];

interface Worked extends Recovery {
  successor: Started;
  round: Round;
  /** That its successor was not granted, of what the start before it was; 0: nothing. */
  missingBytes: number;
}

interface CrashRow {
  crash: Crash;
  all: Recovery[];
  worked: Worked[];
  /** From what it was told to the first result, minus its round's start without an error. */
  beyondStartNs: number[];
  row: RecoveryRow;
}

const startNs = ({ spawnedAtNs, firstResultAtNs }: Started): number => firstResultAtNs - spawnedAtNs;
const medianUs = (times: readonly number[]): number | null =>
  times.length === 0 ? null : median(times).value / NS_PER_US;

/** Each successor is compared with the start before it, so that what one crash takes is not said of the next. */
function workedIn(rounds: readonly Round[]): Worked[] {
  return rounds.flatMap((round) => {
    let { grantedBytes } = round.untroubled;
    return round.recoveries.flatMap((recovery): Worked[] => {
      const { successor } = recovery;
      if (successor === null) return [];
      const missing = grantedBytes - successor.grantedBytes;
      grantedBytes = successor.grantedBytes;
      return [{ ...recovery, successor, round, missingBytes: missing > QUOTA_SLACK_BYTES ? missing : 0 }];
    });
  });
}

/** A step of a start, or null if a process could not time it. */
const stepNs = ({ start, spawnToMainNs }: Started, step: (typeof STEPS)[number]): number | null =>
  step === 'spawnToMainNs' ? spawnToMainNs : step === 'addonLoadNs' ? null : start[step];

/** How much longer each step took than in the start without an error. */
function slowerSteps(worked: readonly Worked[]) {
  return STEPS.flatMap((step) => {
    const more = worked.flatMap(({ successor, round }) => {
      const [after, before] = [stepNs(successor, step), stepNs(round.untroubled, step)];
      return after === null || before === null ? [] : [after - before];
    });
    const moreUs = medianUs(more);
    return moreUs === null ? [] : [{ step: step.replace(/Ns$/, ''), moreUs }];
  });
}

/** Null if NVML reports them after none. */
function xidsOf(all: readonly Pick<Recovery, 'xids'>[]): number[] | null {
  const seen = all.flatMap(({ xids }) => (xids === null ? [] : [xids]));
  return seen.length === 0 ? null : seen.flat();
}

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

export function rowOf(crash: Crash, rounds: readonly Round[]): CrashRow {
  const all = rounds.flatMap(({ recoveries }) => recoveries).filter((each) => each.crash === crash);
  const worked = workedIn(rounds).filter((each) => each.crash === crash);
  const beyondStartNs = worked.map(
    ({ successor, atNs, round }) => successor.firstResultAtNs - atNs - startNs(round.untroubled),
  );
  const row: RecoveryRow = {
    fault: crash.name,
    way: NEW_PROCESS,
    told: unique(all.map(({ what }) => what ?? 'nothing')),
    processes: all.length,
    recovered: worked.length,
    recoveryUs: medianUs(beyondStartNs),
    ci95: beyondStartNs.length === 0 ? null : intervalOf(beyondStartNs),
    toldToResultUs: medianUs(worked.map(({ successor, atNs }) => successor.firstResultAtNs - atNs)),
    toldToEndUs: medianUs(all.map(({ endedAtNs, atNs }) => endedAtNs - atNs)),
    mostTries: all.reduce((most, { refusals, successor }) => Math.max(most, refusals.length + (successor ? 1 : 0)), 0),
    refusals: unique(all.flatMap(({ refusals }) => refusals)),
    missingBytes: worked.reduce((most, { missingBytes }) => Math.max(most, missingBytes), 0),
    xids: xidsOf(all),
    slowerSteps: slowerSteps(worked),
  };
  return { crash, all, worked, beyondStartNs, row };
}

function intervalOf(times: readonly number[]): [number, number] | null {
  const { ci95 } = median(times);
  return ci95 && [ci95[0] / NS_PER_US, ci95[1] / NS_PER_US];
}

/** A row of the processes that reset their context; none if there were none. */
export function resetRow(rounds: readonly Round[]): RecoveryRow[] {
  const resets = rounds.flatMap(({ reset }) => reset ?? []);
  if (resets.length === 0) return [];
  const answers = resets.flatMap(({ answer }) => answer ?? []);
  const took = resets.flatMap(({ answer, reason }) =>
    answer === null || reason !== null ? [] : [answer.firstResultAtNs - answer.fault.toldAtNs],
  );
  return [
    {
      fault: ILLEGAL_ADDRESS.name,
      way: SAME_PROCESS,
      told: unique(answers.map(({ fault }) => `${fault.name} (${fault.code})`)),
      processes: resets.length,
      recovered: took.length,
      recoveryUs: medianUs(took),
      ci95: took.length === 0 ? null : intervalOf(took),
      refusals: unique(resets.flatMap(({ reason }) => reason ?? [])),
      xids: xidsOf(resets),
      reset: unique(answers.map(({ resetCode, resetName }) => `${resetName} (${resetCode})`)),
    },
  ];
}

/** The first whose tenant did not work again. */
export const unrecovered = (rounds: readonly Round[]): Recovery | undefined =>
  rounds.flatMap(({ recoveries }) => recoveries).find(({ successor }) => successor === null);

function missing({ crash, worked }: CrashRow): string | null {
  const lost = worked.filter(({ missingBytes }) => missingBytes > 0);
  const [first] = lost;
  if (!first) return null;
  const before = first.missingBytes + first.successor.grantedBytes;
  const after = `${formatBytes(first.missingBytes)} of ${formatBytes(before)} could not be allocated any more`;
  return `${crash.name}: ${after} (${lost.length} of ${worked.length} times)`;
}

/** Violations: what the layer did not survive. */
export const sentences = (rows: readonly CrashRow[], patienceMs: number): string[] =>
  rows.flatMap((row) => {
    const lost = row.all.length > row.worked.length;
    return [
      missing(row) ?? [],
      lost ? `${row.crash.name}: no new process worked within ${patienceMs / 1_000} s` : [],
    ].flat();
  });

function toldCheck(name: string, rows: readonly CrashRow[]): Check {
  const wrong = rows.flatMap(({ crash, all }) =>
    all.flatMap(({ what }) => (isTold(what, crash.expected) ? [] : [`${crash.name}: ${what ?? 'nothing'}`])),
  );
  return { name, passed: wrong.length === 0, detail: unique(wrong).join('; ') || rows.map(said).join('; ') };
}

const said = ({ crash, all }: CrashRow): string => `${crash.name}: ${all.length} times`;

/** A crash that ends its successors does so again; one death alone may be the doing of something else. */
function deathCheck(rows: readonly CrashRow[]): Check {
  const once = rows.filter(({ all }) => all.reduce((sum, { deaths }) => sum + deaths, 0) === 1);
  return {
    name: 'no successor died only once',
    passed: once.length === 0,
    detail:
      once.map(({ crash, row }) => `after ${crash.name}: ${row.refusals.join('; ')}`).join('; ') || 'after any crash',
  };
}

function xidCheck({ all }: CrashRow): Check {
  const name = 'the card reported the error (Xid)';
  const seen = all.flatMap(({ xids }) => (xids === null ? [] : [xids]));
  if (seen.length === 0) return { name, passed: 'not checked', detail: 'NVML does not report them here' };
  const silent = seen.filter(({ length }) => length === 0).length;
  return { name, passed: silent === 0, detail: `after ${seen.length - silent} of ${seen.length}` };
}

export function checksOf(rows: readonly CrashRow[], rounds: readonly Round[]): Check[] {
  const [headline, ...others] = rows as [CrashRow, ...CrashRow[]];
  const started = [
    ...rounds.map(({ untroubled }) => untroubled),
    ...rows.flatMap(({ worked }) => worked.map(({ successor }) => successor)),
  ];
  const wrong = started.filter(({ start }) => !start.resultCorrect).length;
  return [
    toldCheck(`the process is told ${headline.crash.expected}`, [headline]),
    toldCheck('every other process was killed', others),
    deathCheck(rows),
    {
      name: "the successors' results are right",
      passed: wrong === 0,
      detail: `${started.length - wrong} of ${started.length} starts`,
    },
    {
      name: 'its memory is fully available again',
      passed: missing(headline) === null,
      detail: missing(headline) ?? `${formatBytes(rounds[0]?.untroubled.grantedBytes ?? 0)} before and after`,
    },
    xidCheck(headline),
  ];
}
