/** The sections of a report in their order, the same in every format. A format omits those that it has no body for. */
import { FRONTS_TITLE } from './tables/fronts.js';
import { PROGRAM_TITLE } from './tables/program-costs.js';
import { TIMELINE_TITLE } from './tables/program-timelines.js';
import { RANKING_TITLE } from './tables/ranking.js';
import { SCENE_TITLE } from './tables/slowdowns.js';

export interface ReportSection {
  /** Id of the section, which is also its anchor in a page. */
  id: string;
  title: string;
  /** Whether a page shows it closed, until a reader opens it. */
  isFolded?: true;
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
  { id: 'program-costs', title: PROGRAM_TITLE },
  { id: 'scenes', title: SCENE_TITLE },
  { id: 'ranking', title: RANKING_TITLE },
  { id: 'fronts', title: FRONTS_TITLE },
  { id: 'results', title: 'Results' },
  { id: 'peers', title: 'Rates between GPUs' },
  { id: 'frontier', title: 'Token generation: frontier' },
  { id: 'program-timelines', title: TIMELINE_TITLE },
  { id: 'isolation', title: 'Isolation in detail' },
  { id: 'compute-limits', title: 'Compute limits' },
  { id: 'not-measured', title: 'Not measured' },
  { id: 'tails', title: 'Tail latencies', isFolded: true },
  { id: 'consistency', title: 'Consistency', isFolded: true },
  { id: 'statistics', title: 'Statistics', isFolded: true },
  { id: 'health', title: 'Warnings and health', isFolded: true },
  { id: 'reproduction', title: 'Reproduction', isFolded: true },
  { id: 'environment', title: 'Systems and environment', isFolded: true },
] as const satisfies readonly ReportSection[];

export type SectionId = (typeof sections)[number]['id'];

/** A format's bodies by section. */
export type Bodies<Body> = Partial<Record<SectionId, Body>>;

/** The sections for which a format has content, in order. */
export function contents<Content>(bodyOf: (id: SectionId) => Content | null): (ReportSection & { content: Content })[] {
  return sections.flatMap((section) => {
    const content = bodyOf(section.id);
    return content === null ? [] : [{ ...section, content }];
  });
}

export const titleOfSection = (id: SectionId): string => sections.find((section) => section.id === id)?.title ?? id;
