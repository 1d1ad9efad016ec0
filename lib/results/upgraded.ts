/** Converts documents of earlier schema versions to this one. */
import { SCHEMA_VERSION } from './document.js';
import { reworded } from './text/health-text.js';

type Entries = Record<string, unknown>;

/**
 * Version 1 called the verdict `inconclusive` `ambiguous`, and named a health finding after the check that failed.
 * Versions 1 and 2 had effects by other rules: those of metrics that are still known are computed again from the rounds
 * (run/effects/judged.ts), and `rejudgedFrom` says so. Anything else than such a document is returned unchanged.
 */
export function upgraded(value: unknown): unknown {
  if (!isEntries(value) || (value.schemaVersion !== 1 && value.schemaVersion !== 2)) return value;
  const { schemaVersion } = value;
  const warnings = schemaVersion === 1 ? each(value.warnings, warning) : value.warnings;
  const document = { ...value, schemaVersion: SCHEMA_VERSION, warnings };
  if (value.kind !== 'comparison') return document;
  return {
    ...document,
    systems: each(value.systems, (rounds) => each(rounds, upgraded)),
    effects: each(value.effects, effect),
    pairs: [],
    ...(value.callEffects !== undefined && { callEffects: each(value.callEffects, callEffect) }),
    rejudgedFrom: schemaVersion,
  };
}

const isEntries = (value: unknown): value is Entries => typeof value === 'object' && value !== null;

const each = (values: unknown, change: (value: unknown) => unknown): unknown =>
  Array.isArray(values) ? values.map(change) : values;

function effect(value: unknown): unknown {
  if (!isEntries(value)) return value;
  const { verdict, verdictRaw: _raw, bootstrapCi95: _bootstrap, pValues, ...kept } = value;
  const now = renamed(verdict);
  return {
    ...kept,
    ratioCi90: null,
    differenceCi90: null,
    p: null,
    betweenRounds: null,
    relevance: now === 'same' ? 'within' : null,
    roundsNeeded: null,
    pMannWhitney: isEntries(pValues) ? pValues.mannWhitney : null,
    established: now === 'slower' || now === 'faster',
    verdict: now,
  };
}

function callEffect(value: unknown): unknown {
  if (!isEntries(value)) return value;
  const { verdictRaw: _raw, ...kept } = value;
  return { ...kept, p: null, verdict: renamed(value.verdict) };
}

const warning = (text: unknown): unknown => (typeof text === 'string' ? reworded(text) : text);

const renamed = (verdict: unknown): unknown => (verdict === 'ambiguous' ? 'inconclusive' : verdict);
