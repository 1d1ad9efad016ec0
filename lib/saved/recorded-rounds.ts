/** Rounds of another session that stand for those of a system: native measured before every card was in MIG mode. */
import { quoted, UsageError } from '../errors/usage-error.js';
import type { RunDocument } from '../results/document.js';
import { isComparison } from '../results/kinds.js';
import { isNative } from '../results/recorded-kind.js';
import type { System } from '../systems/system.js';
import { isUnattested } from './attested.js';
import { readDocument } from './read.js';

/** A list by system; undefined for those that are measured. Throws UsageError if a file has too few rounds of native. */
export const recordedRounds = (
  systems: readonly System[],
  rounds: number,
  metrics: readonly string[],
): Promise<(RunDocument[] | undefined)[]> =>
  Promise.all(
    systems.map(async ({ recordedIn, name }) =>
      recordedIn === undefined ? undefined : (await nativeIn(recordedIn, rounds)).map(asked(name, metrics)),
    ),
  );

async function nativeIn(file: string, rounds: number): Promise<RunDocument[]> {
  const { document } = await readDocument(file);
  const refused = (why: string, advice: string) =>
    new UsageError(
      `Expected recorded of native to be a result of compare with native but received ${quoted(file)}: ${why}. ${advice}`,
    );
  if (!isComparison(document)) throw refused('it is a result of run', 'Measure native by compare, which proves it.');
  const found = document.systems.find(([first]) => isNative(first));
  if (!found) throw refused('no system of it is native', 'Name the result that has native.');
  const complete = found.filter((round) => round.completed && !isUnattested(round));
  if (complete.length < rounds)
    throw refused(
      `it has ${complete.length} complete, proven rounds of native, ${rounds} are planned`,
      'Lower --rounds.',
    );
  return complete.slice(0, rounds);
}

/** The round with the metrics of the plan alone, under the name that the system has now. */
const asked =
  (name: string, ids: readonly string[]) =>
  ({ metrics, system, session: _, reused: __, ...document }: RunDocument): RunDocument => ({
    ...document,
    system: { ...system, name },
    metrics: metrics.filter(({ id }) => ids.includes(id)),
  });
