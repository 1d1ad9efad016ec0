/** The result of a gate for the terminal: failures come first. */
import type { Case, GateDocument } from '../../gate/document.js';
import { environmentText } from '../tables/environment.js';
import { plain } from '../../results/text/plain.js';
import { type Column, table } from '../tables/table.js';
import { WATERMARK } from './terminal.js';

const columns: Column[] = [
  { title: 'Gate' },
  { title: 'Metric' },
  { title: 'System' },
  { title: 'Allowed', width: 64 },
  { title: 'Found', width: 72 },
];

const order = ['failed', 'invalid', 'inconclusive', 'passed', 'not measured'] as const;

const rank = ({ countsAs, outcome }: Case): number =>
  (countsAs === 'failed' ? 0 : order.length) + order.indexOf(outcome);

/** Names an outcome and, if the name does not tell, how it counts. */
function outcomeText({ outcome, countsAs }: Case): string {
  if (countsAs === 'failed') return outcome === 'failed' ? 'FAILED' : `FAILED (${outcome})`;
  return outcome === 'inconclusive' ? 'passed (inconclusive)' : outcome;
}

export function gateReport(found: GateDocument): string {
  const { cases, environments, baseline, simulated } = found;
  const sorted = [...cases].sort((a, b) => rank(a) - rank(b));
  const rows = sorted.map((each) => [
    outcomeText(each),
    each.metric,
    plain(each.system),
    plain(each.threshold),
    plain(each.reason),
  ]);
  const improvements = cases.flatMap(({ improvement, metric, system }) =>
    improvement === undefined ? [] : [plain(`IMPROVED: ${system}, ${metric}: ${improvement}`)],
  );
  return [
    ...(simulated ? [WATERMARK] : []),
    ...(environments.baseline
      ? [
          `This measurement: ${environmentText(environments.now)}\nBaseline ${baseline}: ${environmentText(environments.baseline)}`,
        ]
      : []),
    ...(rows.length > 0 ? [table(columns, rows)] : []),
    ...(improvements.length > 0 ? [improvements.join('\n')] : []),
    found.rule,
    summary(found),
  ].join('\n\n');
}

function summary({ cases, passed }: GateDocument): string {
  const counted = order.flatMap((outcome) => {
    const of = cases.filter((each) => each.outcome === outcome);
    return of.length === 0 ? [] : [`${of.length} ${outcome}${counting(outcome, of)}`];
  });
  return `Gate ${passed ? 'passed' : 'FAILED'}: ${counted.join(', ') || 'nothing to judge'}.`;
}

function counting(outcome: Case['outcome'], cases: readonly Case[]): string {
  if (outcome !== 'inconclusive' && outcome !== 'not measured') return '';
  const failed = cases.filter(({ countsAs }) => countsAs === 'failed').length;
  if (failed === 0) return ' (counts as passed)';
  return failed === cases.length
    ? ' (counts as failed)'
    : ` (${failed} of them ${failed === 1 ? 'counts' : 'count'} as failed)`;
}
