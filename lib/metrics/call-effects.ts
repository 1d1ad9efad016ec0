/**
 * The cost of each driver call under a system, from pairs in one process: the call through the application's pointer,
 * alternating with the driver's own. This is the strongest evidence available, because differences between processes
 * and rounds cancel in every pair. The round is still the unit of replication.
 */
import * as v from 'valibot';
import { findMetric } from './registry.js';
import type { CallEffect, RunDocument } from '../results/document.js';
import { grouped } from '../results/grouped.js';
import { againstZero, holmVerdicts, type ZeroEffect } from '../stats/effect.js';
import { median } from '../stats/median.js';

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
  }),
  v.transform(({ name, call = name, ...row }) => ({ ...row, call, name: name ?? call })),
);

interface Measured extends v.InferOutput<typeof pairSchema> {
  call: string;
  metric: string;
  round: RunDocument;
}

/** For every system. The baseline's calls show the error that the others' can have. */
export function callEffects(systems: readonly Arms[]): CallEffect[] {
  return systems.flatMap((arms) => {
    const measured = arms.flatMap((round) => (round ? pairedCalls(round) : []));
    return [...grouped(measured, ({ metric }) => metric).values()].flatMap(ofMetric);
  });
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

/** Holm's adjustment covers the calls of one metric in one system. */
function ofMetric(measured: readonly Measured[]): CallEffect[] {
  const calls = [...grouped(measured, ({ call }) => call).entries()];
  const judged = calls.map(([, rounds]) => againstZero(rounds.map(({ overheadNs }) => overheadNs)));
  const verdicts = holmVerdicts(judged);
  return calls.map(([call, rounds], i) => {
    const [first] = rounds as [Measured];
    const { value, ci95, verdictRaw } = judged[i] as ZeroEffect;
    return {
      metric: first.metric,
      system: first.round.system.name,
      call,
      owner: first.owner ?? ownerOf(first),
      intercepted: rounds.some(({ intercepted }) => intercepted),
      interceptedOn: provenanceOf(first)?.interposed ?? null,
      rounds: rounds.length,
      overheadNs: value,
      overheadCi95: ci95,
      bareNs: median(rounds.map(({ bareNs }) => bareNs)).value,
      verdict: verdicts[i] as CallEffect['verdict'],
      verdictRaw,
    };
  });
}

const provenanceOf = ({ name, round }: Measured) => round.provenance.find((row) => row.name === name);

const ownerOf = (measured: Measured): string | null => provenanceOf(measured)?.paths[measured.round.plan.path] ?? null;
