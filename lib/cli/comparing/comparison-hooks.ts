/** What a comparison shows on the terminal and keeps in its directory while it measures. */
import { capitalised, duration, plain } from '../../results/text/plain.js';
import type { CompareHooks } from '../../run/compare-request.js';
import type { Stage } from '../../run/effects/detect.js';
import { choiceText } from '../../run/plan/device.js';
import type { System } from '../../systems/system.js';
import { failureOf } from '../files/output.js';
import type { ResultDirectory } from '../files/result-directory.js';
import type { ProgressDisplay } from '../terminal/progress.js';
import { say, warn } from '../terminal/talk.js';
import type { Comparing } from './comparing-task.js';

export function displayed(
  { gating, comparison: { systems }, onRound }: Comparing,
  progress: ProgressDisplay,
  directory: string,
  intro: readonly (string | null)[],
  stage: Stage,
): Omit<CompareHooks, 'onDocument'> {
  let at = '';
  let system = '';
  return {
    onStart: (choice, warnings) => {
      progress.aside(() => {
        if (intro.length === 0) return;
        for (const line of intro) if (line) say(plain(line));
        say(plain(`${choiceText(choice)}; results in ${directory}`));
        warnings.forEach(warn);
      });
    },
    onComputeLimit: ({ name }) => progress.doing(`compute limit of ${plain(name)}`),
    onRound: (round, measured, further) => {
      system = measured.name;
      at = `${roundOf(stage)} ${round + 1}, ${plain(system)}${further === null ? '' : `, further process ${further}`}`;
      onRound?.(round, systems.indexOf(measured), stage);
      progress.doing(at);
    },
    onWaiting: (what) => progress.doing(`${at === '' ? '' : `${at}: `}waiting for ${what}`),
    onPrepared: ({ description }, _choice, warnings) => {
      gating?.checkWorld(description.inspection.simulated);
      progress.aside(() => warnings.forEach(warn));
    },
    onMetric: ({ id }) => progress.doing(`${at}: ${subjectOf(id)}`),
    onProgress: ({ id, step, warning }) => {
      progress.doing(`${at}: ${subjectOf(id)} ${step}`);
      if (warning !== undefined) progress.aside(() => warn(`${system}, ${warning}`));
    },
    onResult: () => {},
    onGivenUp: ({ name }) =>
      progress.aside(() => warn(`${name}: its further rounds are not measured (--keep-going measures them).`)),
    onFailedProof: (reason) => progress.aside(() => warn(`${system}: ${reason}`)),
  };
}

/** The metric, or the program whose metrics are all measured by the same runs. */
const subjectOf = (id: string): string => plain(id.split('/')[0] ?? id);

const roundOf = (stage: Stage): string => (stage === 'pilot' ? 'pilot round' : 'round');

/** A round that cannot be written is kept in memory: the disk may have room again before the end. */
export function recorded(
  progress: ProgressDisplay,
  directory: ResultDirectory,
  systems: readonly System[],
  unwritten: Error[],
  stage: Stage,
): Pick<CompareHooks, 'onDocument'> {
  return {
    onDocument: async (round, index, { document, origin, log }) => {
      const which = `${capitalised(roundOf(stage))} ${round + 1}, ${plain(systems[index]?.name ?? '')}`;
      const outcome = origin === 'measured' ? duration(document.durationMs / 1_000) : origin;
      // Already stored in the directory.
      if (origin === 'reused') return progress.aside(() => say(`${which}: ${outcome}`));
      const failure = await failureOf(directory.keepRound(round, index, document, log, stage));
      if (failure) unwritten.push(failure);
      progress.aside(() => {
        if (failure) warn(`${failure.message} Measuring continues; the result is written and printed at the end.`);
        say(`${which}: ${outcome}`);
      });
    },
  };
}
