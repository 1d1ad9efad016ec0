/** The sections of a report in their order, the same in every format. A format omits those that have nothing for it. */
import type { View } from '../results/view.js';
import { FRONTS_TITLE } from './tables/fronts.js';
import { PROGRAM_NOTE, PROGRAM_TITLE, programCostTable } from './tables/program-costs.js';
import { TIMELINE_TITLE } from './tables/program-timelines.js';
import { RANKING_NOTE, RANKING_TITLE, rankingTable } from './tables/ranking.js';
import { SCENE_NOTE, SCENE_TITLE, sceneTable } from './tables/slowdowns.js';
import type { DataTable } from './tables/table-data.js';
import { spreadTable, tailTable } from './text/spread.js';

interface ReportSection {
  /** Id of the section, which is also its anchor in a page. */
  id: string;
  title: string;
  /** Whether a page shows it closed, until a reader opens it. */
  isFolded?: true;
  /** Its content in every format that has no body of its own for it; null if the document has no data for it. */
  table?: (view: View) => DataTable | null;
  /** A sentence before the table. */
  note?: string;
}

/**
 * Sections in the order of reading: first what a reader decides from, then the evidence, and last what only a check of
 * the evidence needs.
 */
export const sections = [
  { id: 'answer', title: 'Answer' },
  { id: 'violations', title: 'Violations' },
  { id: 'recommendations', title: 'Recommendations' },
  { id: 'unknown', title: 'What is not known' },
  { id: 'costs', title: 'What each call costs' },
  { id: 'program-costs', title: PROGRAM_TITLE, note: PROGRAM_NOTE, table: programCostTable },
  { id: 'scenes', title: SCENE_TITLE, note: SCENE_NOTE, table: sceneTable },
  { id: 'ranking', title: RANKING_TITLE, note: RANKING_NOTE, table: rankingTable },
  { id: 'fronts', title: FRONTS_TITLE },
  { id: 'results', title: 'Results' },
  { id: 'peers', title: 'Rates between GPUs' },
  { id: 'frontier', title: 'Token generation: frontier' },
  { id: 'program-timelines', title: TIMELINE_TITLE },
  { id: 'isolation', title: 'Isolation in detail' },
  { id: 'compute-limits', title: 'Compute limits' },
  { id: 'not-measured', title: 'Not measured' },
  { id: 'tails', title: 'Tail latencies', isFolded: true, table: tailTable },
  { id: 'consistency', title: 'Consistency', isFolded: true, table: spreadTable },
  { id: 'statistics', title: 'Statistics', isFolded: true },
  { id: 'health', title: 'Warnings and health', isFolded: true },
  { id: 'reproduction', title: 'Reproduction', isFolded: true },
  { id: 'environment', title: 'Systems and environment', isFolded: true },
] as const satisfies readonly ReportSection[];

export type SectionId = (typeof sections)[number]['id'];

/** A format's bodies by section. */
export type Bodies<Body> = Partial<Record<SectionId, Body>>;

interface Form<Content> {
  view: View;
  /** The content of a section: null without any, undefined if the format has no body for it. */
  bodyOf: (id: SectionId) => Content | null | undefined;
  /** The content of a section that is a table; null if the format omits it. */
  tabled: (table: DataTable, section: ReportSection) => Content | null;
}

/** The sections for which a format has content, in order. */
export function contents<Content>({ view, bodyOf, tabled }: Form<Content>): (ReportSection & { content: Content })[] {
  const contentOf = (section: ReportSection & { id: SectionId }): Content | null => {
    const body = bodyOf(section.id);
    if (body !== undefined) return body;
    const table = section.table?.(view) ?? null;
    return table && tabled(table, section);
  };
  return sections.flatMap((section) => {
    const content = contentOf(section);
    return content === null ? [] : [{ ...section, content }];
  });
}

export const titleOfSection = (id: SectionId): string => sections.find((section) => section.id === id)?.title ?? id;
