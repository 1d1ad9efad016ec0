/** The one order of metric ids, for documents, tables, `list` and docs/metrics.md. */

/** Subjects by the beginning of their ids: what a layer costs and whether it isolates first. */
const SUBJECTS: readonly string[] = 'OH IS LLM SCHED ERR BW CACHE PCIE NCCL FRAG START COMPAT'.split(' ');

const ofTool = /^([A-Z]+)-\d{3}$/;

/** Subjects that are not listed come after those that are, and metrics of programs last. */
function placeOf(id: string): number {
  const [, subject] = ofTool.exec(id) ?? [];
  if (subject === undefined) return SUBJECTS.length + 1;
  const place = SUBJECTS.indexOf(subject);
  return place < 0 ? SUBJECTS.length : place;
}

/** For `sort`: by subject, then by number. */
export const byMetricId = (a: string, b: string): number =>
  placeOf(a) - placeOf(b) || a.localeCompare(b, 'en', { numeric: true });
