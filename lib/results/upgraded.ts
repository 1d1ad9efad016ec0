/** Converts documents of earlier schema versions to this one. */
import { SCHEMA_VERSION } from './document.js';
import { reworded } from './health-text.js';

type Entries = Record<string, unknown>;

/**
 * Version 1 called the verdict `inconclusive` `ambiguous`, and named a health finding after the check that failed.
 * Anything else than a document of version 1 is returned unchanged.
 */
export function upgraded(value: unknown): unknown {
  if (!isEntries(value) || value.schemaVersion !== 1) return value;
  const document = { ...value, schemaVersion: SCHEMA_VERSION, warnings: each(value.warnings, warning) };
  if (value.kind !== 'comparison') return document;
  return { ...document, systems: each(value.systems, (rounds) => each(rounds, upgraded)), effects: effects(value) };
}

const isEntries = (value: unknown): value is Entries => typeof value === 'object' && value !== null;

const each = (values: unknown, change: (value: unknown) => unknown): unknown =>
  Array.isArray(values) ? values.map(change) : values;

const effects = (document: Entries): unknown =>
  each(document.effects, (effect) => {
    if (!isEntries(effect)) return effect;
    const { verdict, verdictRaw } = effect;
    return { ...effect, verdict: renamed(verdict), verdictRaw: renamed(verdictRaw) };
  });

const warning = (text: unknown): unknown => (typeof text === 'string' ? reworded(text) : text);

const renamed = (verdict: unknown): unknown => (verdict === 'ambiguous' ? 'inconclusive' : verdict);
