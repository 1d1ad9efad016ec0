/**
 * The cost of each driver call under a system, from pairs in one process: the call through the application's pointer,
 * alternating with the driver's own. This is the strongest evidence available, because differences between processes
 * and rounds cancel in every pair. The round is still the unit of replication.
 */
import * as v from 'valibot';
import { findMetric } from '../registry.js';
import type { CallEffect, RunDocument } from '../../results/document.js';
import { grouped } from '../../results/text/grouped.js';
import { againstZero } from '../../stats/rule/effect.js';
import { median } from '../../stats/median.js';
import { decide } from '../../stats/rule/verdict.js';

/** A system's rounds; undefined if it was not measured in the same rounds as the others. */
type Arms = readonly (RunDocument | undefined)[];

const finite = v.pipe(v.number(), v.finite());

/** A row of pairs in a metric's details, which are not trusted. */
const pairSchema = v.pipe(
  v.object({
    /** The driver function, and the way of calling it if a metric uses several; at least one of them. */
    name: v.optional(v.string()),
    call: v.optional(v.string()),
    owner: v.optional(v.nullable(v.string())),
    intercepted: v.boolean(),
    /** Median difference of the pairs, and median cost of the driver's own call. */
    overheadNs: finite,
    bareNs: finite,
    /** Mean difference without the outermost pairs; absent in earlier documents. */
    trimmedNs: v.optional(finite),
  }),
  v.transform(({ name, call = name, ...row }) => ({ ...row, call, name: name ?? call })),
);

interface Measured extends v.InferOutput<typeof pairSchema> {
  call: string;
  metric: string;
  round: RunDocument;
}

/**
 * A pair's difference is a median of whole nanoseconds at best: rounds that agree do not make it certain, and less does
 * not count.
 */
const STEP_NS = 1;

/** For every system. The baseline's calls show the error that the others' can have. */
export function callEffects(systems: readonly Arms[]): CallEffect[] {
  return systems.flatMap((arms) => ofSystem(arms.flatMap((round) => (round ? pairedCalls(round) : []))));
}

function pairedCalls(round: RunDocument): Measured[] {
  return round.metrics
    .filter(({ status }) => status === 'ok')
    .flatMap(({ id, details }) => {
      const at = findMetric(id)?.pairs;
      const rows = at === undefined || !Object.hasOwn(details, at) ? [] : [details[at]].flat();
      return rows.flatMap((row): Measured[] => {
        const read = v.safeParse(pairSchema, row);
        const call = read.success ? read.output.call : undefined;
        return read.success && call !== undefined ? [{ ...read.output, call, metric: id, round }] : [];
      });
    });
}

/** All calls of one system are one family. */
function ofSystem(measured: readonly Measured[]): CallEffect[] {
  const calls = [...grouped(measured, ({ metric, call }) => JSON.stringify([metric, call])).values()].map((rounds) => ({
    rounds,
    found: againstZero(
      rounds.map(({ overheadNs }) => overheadNs),
      STEP_NS,
    ),
  }));
  const decisions = decide(calls.map(({ found: { evidence } }) => ({ evidence, delta: STEP_NS })));
  return calls.map(({ rounds, found: { value, ci95, evidence } }, i) => {
    const [first] = rounds as [Measured];
    const trimmed = trimmedOf(rounds);
    return {
      metric: first.metric,
      system: first.round.system.name,
      call: first.call,
      owner: first.owner ?? ownerOf(first),
      intercepted: rounds.some(({ intercepted }) => intercepted),
      interceptedOn: provenanceOf(first)?.interposed ?? null,
      rounds: rounds.length,
      overheadNs: value,
      overheadCi95: ci95,
      ...(trimmed && { trimmed }),
      bareNs: median(rounds.map(({ bareNs }) => bareNs)).value,
      p: evidence.p,
      verdict: decisions[i]?.verdict ?? 'inconclusive',
    };
  });
}

/** The same comparison by trimmed means; null unless every round has one. */
function trimmedOf(rounds: readonly Measured[]): CallEffect['trimmed'] | null {
  const means = rounds.flatMap(({ trimmedNs }) => trimmedNs ?? []);
  if (means.length < rounds.length) return null;
  const { value, ci95 } = againstZero(means, STEP_NS);
  return { overheadNs: value, overheadCi95: ci95 };
}

const provenanceOf = ({ name, round }: Measured) => round.provenance.find((row) => row.name === name);

const ownerOf = (measured: Measured): string | null => provenanceOf(measured)?.paths[measured.round.plan.path] ?? null;
