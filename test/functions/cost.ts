/** What is lost if the driver or NVML lacks functions, measured by the command line on two simulated GPUs. */
import { join } from 'node:path';
import { type FunctionCost, functionCosts } from '../../lib/native/function-costs.js';
import type { MetricResult } from '../../lib/results/document.js';
import { command, parseDocument, simulatedFolder } from '../cli/command.js';
import { isDisturbed } from '../undisturbed.js';

const ARGUMENTS = ['--iterations', '1', '--simulate', '--json', '-'];
const ENVIRONMENT = { LD_LIBRARY_PATH: join(simulatedFolder, 'nccl') };
const MOST_TIMES = 5;

export type Results = ReadonlyMap<string, MetricResult>;

/** The results of metrics, or the error with which the command refuses to measure. `sim`: more settings of the GPUs. */
async function measure(ids: readonly string[], sim: string): Promise<Results | { refusal: string }> {
  const results = new Map<string, MetricResult>();
  let missing = ids;
  for (let time = 1; missing.length > 0 && time <= MOST_TIMES; time++) {
    const { stdout, stderr } = await command(
      ['run', ...missing, ...ARGUMENTS],
      ENVIRONMENT,
      `devices=2${sim && `,${sim}`}`,
    );
    if (stdout === '') return { refusal: stderr };
    const { metrics } = parseDocument(stdout);
    for (const metric of metrics) results.set(metric.id, metric);
    missing = metrics.filter(isDisturbed).map(({ id }) => id);
  }
  return results;
}

export async function measuredWithAll(ids: readonly string[], sim = ''): Promise<Results> {
  const results = await measure(ids, sim);
  if ('refusal' in results) throw new Error(results.refusal);
  return results;
}

/** Readings of the machine beside the result, and which of its processes NVML listed. */
const BESIDE = new Set(['health', 'pidMapping']);

/** The paths of all values that are there. */
function paths(value: unknown, path = ''): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [path];
  return Object.entries(value).flatMap(([key, each]) =>
    path === '' && BESIDE.has(key) ? [] : paths(each, `${path}.${Array.isArray(value) ? '' : key}`),
  );
}

const isNamed = (text: string, names: readonly string[]): boolean =>
  names.some((name) => text.includes(`${name} is not offered by`));

/** Whether a reason names one in its own words, with or without the version. */
const mentions = (reason: string, names: readonly string[]): boolean =>
  names.some((name) => new RegExp(`\\b${name.replace(/_v\d+$/, '(_v\\d+)?')}\\b`).test(reason));

/** Throws where a result is neither right nor unsupported with a reason that names a function. */
function lostOf(result: MetricResult, whole: MetricResult, names: readonly string[]): 'all' | 'part' | null {
  const { id, status, reason = '' } = result;
  if (whole.status !== 'ok') return null;
  if (status === 'unsupported' && mentions(reason, names)) return 'all';
  if (status !== 'ok') throw new Error(`Without ${names.join(', ')} ${id} is ${status}: ${reason}`);
  const kept = new Set(paths(result.details));
  const isWhole = paths(whole.details).every((path) => kept.has(path));
  const [said, before] = [JSON.stringify(result), JSON.stringify(whole)];
  const isNew = names.some((name) => said.includes(name) && !before.includes(name));
  return isWhole && !isNew && !isNamed(said, names) ? null : 'part';
}

/** What the list says is lost of the metrics. */
export function listedCost(name: string, ids: readonly string[]): FunctionCost {
  const { stops, metrics = [], partly = [] } = functionCosts[name] ?? {};
  const among = (all: readonly string[]) => all.filter((id) => ids.includes(id));
  if (stops) return { stops };
  return {
    ...(among(metrics).length > 0 && { metrics: among(metrics) }),
    ...(among(partly).length > 0 && { partly: among(partly) }),
  };
}

const REFUSED = /^error: No GPU can be found: (\w+) is not offered by this driver on the runtime path; .+: .+\.$/m;

/** Metrics that are not the same without the functions, whatever they are. */
export async function touchedBy(names: readonly string[], ids: readonly string[], whole: Results): Promise<string[]> {
  const results = await measuredWithAll(ids, `hide=${names.join('+')}`);
  return ids.filter((id) => {
    const [result, before] = [results.get(id), whole.get(id)];
    return result?.status !== 'ok' || !before || lostOf(result, before, names) !== null;
  });
}

/** What of the metrics is lost without the functions. */
export async function costOf(names: readonly string[], ids: readonly string[], whole: Results): Promise<FunctionCost> {
  const results = await measure(ids, `hide=${names.join('+')}`);
  if ('refusal' in results) {
    if (!names.includes(REFUSED.exec(results.refusal)?.[1] ?? '')) throw new Error(results.refusal);
    return { stops: true };
  }
  const lost = ids.map((id) => {
    const [result, before] = [results.get(id), whole.get(id)];
    if (!result || !before) throw new Error(`Without ${names.join(', ')} there is no result of ${id}.`);
    return { id, lost: lostOf(result, before, names) };
  });
  const idsOf = (share: 'all' | 'part') => lost.filter((each) => each.lost === share).map(({ id }) => id);
  const [metrics, partly] = [idsOf('all'), idsOf('part')];
  return { ...(metrics.length > 0 && { metrics }), ...(partly.length > 0 && { partly }) };
}
