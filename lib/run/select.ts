/** Selectors of metrics: ids, globs over ids, category names; upper and lower case alike. */
import picomatch from 'picomatch';
import type { MetricDefinition } from '../metrics/metric.js';
import { closest } from '../errors/closest.js';
import { quoted, UsageError } from '../errors/usage-error.js';

/** In the order of `all`, each once. No selector selects everything. */
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
 * Wildcards, and one list of words: `OH-{001,002}`. With groups and further lists of patterns a short selector can keep a
 * matcher busy for hours.
 */
const glob = /^[\w*?[\]!^/@=.,+-]*(?:\{[\w,-]*\}[\w*?[\]!^/@=.,+-]*)?$/;
const LONGEST_GLOB = 100;

function matcher(selector: string): (metric: MetricDefinition) => boolean {
  const wanted = selector.toLowerCase();
  // Without the test a plain word would go to picomatch too, where a stray bracket or ! has a meaning.
  const isGlob = selector.length <= LONGEST_GLOB && glob.test(selector) && picomatch.scan(selector).isGlob;
  const matches = isGlob ? picomatch(selector, { nocase: true, noextglob: true }) : () => false;
  return ({ id, category }) => id.toLowerCase() === wanted || category === wanted || matches(id);
}

function unknownSelector(selector: string, all: readonly MetricDefinition[]): UsageError {
  const names = new Set(all.flatMap(({ id, category }) => [id, category]));
  const near = closest(selector, names);
  const hint = near ? `did you mean ${near}?` : 'gpu-virt-bench list shows them.';
  return new UsageError(`Expected a metric id, a glob or a category but received ${quoted(selector)}: ${hint}`);
}
