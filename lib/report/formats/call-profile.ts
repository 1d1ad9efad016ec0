/** A call profile as text: for every phase its most frequent calls. */
import { type CallProfile, callsOf, type Phase } from '../../results/call-profile.js';
import { number, plain } from '../../results/text/plain.js';
import { digits, quantity } from '../../results/text/quantity.js';
import { type Screen, screen } from '../text/screen.js';
import { type Column, table } from '../tables/table.js';

const MOST_ROWS = 20;

const columns = (hasSteps: boolean): Column[] => [
  { title: 'Function' },
  { title: 'Calls', align: 'right' },
  ...(hasSteps ? [{ title: 'A step', align: 'right' } as const] : []),
  { title: 'A second', align: 'right' },
  { title: 'Share', align: 'right', leaves: 1 },
];

export function profileSummary({ name, processes, phases }: CallProfile, on: Screen = screen()): string {
  const of = processes.of === 1 ? '1 process' : `${processes.calling} of ${processes.of} processes called the driver`;
  return [`Call profile ${plain(name)}: ${of}`, ...phases.map((phase) => phaseText(phase, on))].join('\n\n');
}

function phaseText(phase: Phase, on: Screen): string {
  const { name, seconds, steps, calls } = phase;
  const sum = callsOf(phase);
  const all = Object.entries(calls).sort(([, a], [, b]) => b - a);
  const rows = all
    .slice(0, MOST_ROWS)
    .map(([call, count]) => [
      plain(call),
      String(count),
      ...(steps === null ? [] : [digits(count / steps)]),
      seconds > 0 ? digits(count / seconds) : '–',
      `${digits((100 * count) / sum)} %`,
    ]);
  const each = steps === null ? '' : `, ${number(steps)} steps of ${quantity((seconds * 1e9) / steps, 'ns')}`;
  const rest = all.length - rows.length;
  return [
    `Phase ${plain(name)}: ${sum} calls of ${all.length === 1 ? '1 function' : `${all.length} functions`} in ${quantity(seconds * 1e9, 'ns')}${each}`,
    table(columns(steps !== null), rows, on),
    ...(rest > 0 ? [`${rest} more functions are called less often.`] : []),
  ].join('\n');
}
