/** The cost of every function, one at a time, without measuring each metric without each function. */
import type { FunctionCost } from '../../lib/native/function-costs.js';
import { messageOf } from '../../lib/errors/message-of.js';
import { recordsIn } from '../native/record.js';
import { temporaryFolder } from '../temporary.js';
import { costOf, measuredWithAll, touchedBy, type Results } from './cost.js';

/** A metric that loses something ends soon; what many use without a loss is hidden together with others first. */
const FEW = 8;
const PROBES = 5;

interface Whole {
  results: Results;
  /** The metrics that call a function, by its name. */
  users: ReadonlyMap<string, readonly string[]>;
}

/** Each metric by itself, with a record of what it calls. */
async function measureWhole(ids: readonly string[]): Promise<Whole> {
  const results = new Map<string, Results extends ReadonlyMap<string, infer Result> ? Result : never>();
  const users = new Map<string, string[]>();
  await forEach(ids, async (id) => {
    const folder = temporaryFolder('record');
    for (const [, result] of await measuredWithAll([id], `record=${folder}`)) results.set(id, result);
    const called = new Set(recordsIn(folder).flatMap(({ calls }) => calls.map(({ name }) => name)));
    for (const name of called) users.set(name, [...(users.get(name) ?? []), id]);
  });
  return { results, users };
}

const AT_ONCE = 2;

async function forEach<T>(all: readonly T[], act: (each: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await act(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Some of them, evenly spread. */
const spread = (ids: readonly string[]): string[] =>
  ids.filter((_, i) => Math.floor((i * PROBES) / ids.length) !== Math.floor(((i - 1) * PROBES) / ids.length));

const isNothing = (cost: FunctionCost): boolean => Object.keys(cost).length === 0;

/** Costs by name, without those of nothing. `ids` are the metrics to measure. */
export async function everyCost(
  names: readonly string[],
  ids: readonly string[],
  done: (name: string, cost: FunctionCost) => void,
): Promise<ReadonlyMap<string, FunctionCost>> {
  const { results, users } = await measureWhole(ids);
  const usersOf = (name: string) =>
    ids.filter((id) => users.get(name)?.includes(id) === true && results.get(id)?.status === 'ok');
  const costs = new Map<string, FunctionCost>();
  const optional: string[] = [];
  const wrong: unknown[] = [];
  const attempt = (act: (name: string) => Promise<void>) => (name: string) =>
    act(name).catch((error: unknown) => void wrong.push(error));
  const take = (name: string, cost: FunctionCost) => {
    costs.set(name, cost);
    done(name, cost);
  };
  const alone = async (name: string) => {
    const its = usersOf(name);
    if (its.length === 0) return;
    const probed = its.length > FEW ? await costOf([name], spread(its), results) : null;
    if (probed && isNothing(probed)) optional.push(name);
    else take(name, probed?.stops ? probed : await costOf([name], its, results));
  };
  await forEach(names, attempt(alone));
  // What loses nothing without all of them loses nothing without one.
  const affected = new Set(await touchedBy(optional, [...new Set(optional.flatMap(usersOf))], results));
  const amongAffected = async (name: string) => {
    const its = usersOf(name).filter((id) => affected.has(id));
    take(name, its.length === 0 ? {} : await costOf([name], its, results));
  };
  await forEach(optional, attempt(amongAffected));
  if (wrong.length > 0) throw new AggregateError(wrong, wrong.map(messageOf).join('\n'));
  return new Map([...costs].filter(([, cost]) => !isNothing(cost)));
}
