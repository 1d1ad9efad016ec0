/** Whether the answers of a server were the same work under all systems: equally long, and ended for the same reasons. */
import * as v from 'valibot';
import { isOfProgram, workloadOf } from '../../metrics/core/stored-definitions.js';
import type { ComparisonDocument } from '../../results/document.js';

/** Half of the δ of rates: a larger difference of the answers could be taken for one of the systems. */
const LARGEST_DIFFERENCE = 0.01;

const count = v.pipe(v.number(), v.finite(), v.minValue(0));
const rowSchema = v.object({
  warmup: v.boolean(),
  victim: v.optional(v.string()),
  arm: v.optional(v.string()),
  load: v.object({
    succeeded: count,
    tokens: v.optional(count),
    ends: v.optional(v.array(v.object({ reason: v.string(), count }))),
  }),
});

/** The counted answers of one program under one system, over all rounds. */
interface Answers {
  succeeded: number;
  /** Number of tokens per run; null where a run has none. */
  tokens: number | null;
  ends: Map<string, number>;
}

/** A line for each program whose answers differ between systems. */
export function unequalAnswers({ plan, systems }: ComparisonDocument): string[] {
  const byProgram = new Map<string, Map<string, Answers>>();
  for (const [index, rounds] of systems.entries())
    for (const { id, details } of rounds.flatMap(({ metrics }) => metrics)) {
      if (!isOfProgram(id) || !Array.isArray(details.runs)) continue;
      for (const row of details.runs as unknown[]) add(byProgram, workloadOf(id), plan.systems[index] ?? '', row);
    }
  return [...byProgram].flatMap(([program, bySystem]) => [
    ...differentEnds(program, bySystem),
    ...differentLengths(program, bySystem),
  ]);
}

function add(byProgram: Map<string, Map<string, Answers>>, workload: string, system: string, raw: unknown): void {
  const parsed = v.safeParse(rowSchema, raw);
  if (!parsed.success || parsed.output.warmup) return;
  const { victim, arm, load } = parsed.output;
  const program = [workload, victim, arm].filter((part) => part !== undefined).join('/');
  const bySystem = byProgram.get(program) ?? new Map<string, Answers>();
  byProgram.set(program, bySystem);
  const known = bySystem.get(system) ?? { succeeded: 0, tokens: 0, ends: new Map<string, number>() };
  known.succeeded += load.succeeded;
  known.tokens = known.tokens === null || load.tokens === undefined ? null : known.tokens + load.tokens;
  for (const { reason, count: more } of load.ends ?? []) known.ends.set(reason, (known.ends.get(reason) ?? 0) + more);
  bySystem.set(system, known);
}

function differentEnds(program: string, bySystem: ReadonlyMap<string, Answers>): string[] {
  const ended = [...bySystem].filter(([, { ends }]) => ends.size > 0);
  const shares = ended.map(([, { ends }]) => {
    const all = [...ends.values()].reduce((sum, each) => sum + each, 0);
    return new Map([...ends].map(([reason, each]) => [reason, each / all]));
  });
  const reasons = new Set(shares.flatMap((share) => [...share.keys()]));
  const isUnequal = [...reasons].some(
    (reason) => spreadOf(shares.map((share) => share.get(reason) ?? 0)) > LARGEST_DIFFERENCE,
  );
  if (!isUnequal) return [];
  const texts = ended.map(([system, { ends }]) => {
    const counts = [...ends].sort(([, a], [, b]) => b - a).map(([reason, each]) => `${each} ${reason}`);
    return `${system}: ${counts.join(', ')}`;
  });
  return [
    `${program}: answers end for different reasons (${texts.join('; ')}), so the systems did not do the same work`,
  ];
}

function differentLengths(program: string, bySystem: ReadonlyMap<string, Answers>): string[] {
  const lengths = [...bySystem].flatMap(([system, { tokens, succeeded }]) =>
    tokens !== null && tokens > 0 && succeeded > 0 ? [{ system, length: tokens / succeeded }] : [],
  );
  const values = lengths.map(({ length }) => length);
  if (spreadOf(values) <= LARGEST_DIFFERENCE * Math.max(...values, 0)) return [];
  const texts = lengths.map(({ system, length }) => `${system} ${Number(length.toPrecision(4))}`);
  return [
    `${program}: answers are not equally long (tokens on average: ${texts.join(', ')}), so latency and rates are not of the same work: make them equal, e.g. with ignore_eos and max_tokens in body, or compare tpot`,
  ];
}

const spreadOf = (values: readonly number[]): number =>
  values.length < 2 ? 0 : Math.max(...values) - Math.min(...values);
