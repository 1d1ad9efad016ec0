// Whether two effects of one cause, measured by different metrics, contradict each other.

const resolved = ({ verdict }) => verdict !== 'inconclusive';
const apart = ([lowA, highA], [lowB, highB]) => highA < lowB || highB < lowA;

/**
 * Effects are those of a comparison. An inconclusive one contradicts nothing by its verdict, only by an interval of its
 * ratio that does not overlap with that of a resolved one.
 */
export function contradict(a, b) {
  if (resolved(a) && resolved(b) && a.verdict !== b.verdict) return true;
  return (resolved(a) || resolved(b)) && Boolean(a.ratioCi95 && b.ratioCi95) && apart(a.ratioCi95, b.ratioCi95);
}
