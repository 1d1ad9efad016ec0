/** Selectors of metrics: ids, globs over ids, category names, and `all`; not case-sensitive. */
import picomatch from 'picomatch';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { didYouMean } from '../../errors/closest.js';
import { quoted, UsageError } from '../../errors/usage-error.js';

/** Selects every metric. */
export const ALL = 'all';

/** Selects metrics, in the order of `all` and without repetitions. No selector selects everything. */
export function selectMetrics(selectors: readonly string[], all: readonly MetricDefinition[]): MetricDefinition[] {
  if (selectors.length === 0) return [...all];
  const chosen = new Set<MetricDefinition>();
  for (const selector of selectors) {
    const matches = all.filter(matcher(selector));
    if (matches.length === 0) throw unknownSelector(selector, all);
    for (const metric of matches) chosen.add(metric);
  }
  return all.filter((metric) => chosen.has(metric));
}

/**
 * Matches wildcards and one list of words: `OH-{001,002}`. Groups and further lists would let a short selector keep a
 * matcher busy for hours.
 */
const glob = /^[\w*?[\]!^/@=.,+-]*(?:\{[\w,-]*\}[\w*?[\]!^/@=.,+-]*)?$/;
const LONGEST_GLOB = 100;

function matcher(selector: string): (metric: MetricDefinition) => boolean {
  const wanted = selector.toLowerCase();
  // Plain words are not passed to picomatch, where a stray bracket or ! has a meaning.
  const isGlob = selector.length <= LONGEST_GLOB && glob.test(selector) && picomatch.scan(selector).isGlob;
  const matches = isGlob ? picomatch(selector, { nocase: true, noextglob: true }) : () => false;
  return ({ id, category }) => wanted === ALL || id.toLowerCase() === wanted || category === wanted || matches(id);
}

function unknownSelector(selector: string, all: readonly MetricDefinition[]): UsageError {
  const names = new Set([ALL, ...all.flatMap(({ id, category }) => [id, category])]);
  const hint = didYouMean(selector, names, 'gpu-virt-bench list shows them.');
  return new UsageError(`Expected a metric id, a glob or a category but received ${quoted(selector)}: ${hint}`);
}
