/** The cost for a program under each system, from its call profile: text shared by all formats. */
import * as v from 'valibot';
import type { ProgramCost, RunDocument } from '../../results/document.js';
import { isComparison } from '../../results/kinds.js';
import { plain } from '../../results/text/plain.js';
import { digits, type EstimateText, estimateText, inOneLine, quantity } from '../../results/text/quantity.js';
import type { View } from '../../results/view.js';
import { type DataTable, estimate, numeric } from './table-data.js';

export const PROGRAM_TITLE = 'What this program would pay';

export const PROGRAM_NOTE =
  'How often the program calls each function, by its call profile, times what interception adds to that call. What the driver itself does otherwise under a system, and work of the GPU that runs at the same time, are not in it.';

const programCostsOf = ({ document }: View): readonly ProgramCost[] =>
  isComparison(document) ? (document.programCosts ?? []) : [];

/** Name of a program: `decode, phase all`; only the profile's name if it has a single unmarked phase. */
const programName = ({ profile, phase }: ProgramCost): string =>
  phase === 'all' ? profile : `${profile}, phase ${phase}`;

const taxText = ({ taxUs, ci95 }: ProgramCost): EstimateText | null =>
  taxUs === null ? null : estimateText({ value: taxUs, ci95 }, 'us', true);

const percentText = ({ percent, percentCi95 }: ProgramCost): EstimateText | null =>
  percent === null ? null : estimateText({ value: percent, ci95: percentCi95 }, '%', true);

/** Describes a step: `a step of 12.00 ms with 1234 calls`. */
const stepText = ({ steps, stepUs, callsPerStep }: ProgramCost): string =>
  `${steps === null ? 'all of it,' : 'a step of'} ${quantity(stepUs * 1e3, 'ns')} with ${digits(callsPerStep)} calls`;

const MOST_NAMED = 5;

/** Names the calls that contribute most. */
function contributorsText({ calls }: ProgramCost): string | null {
  const paid = calls.filter(({ taxUs }) => taxUs !== 0);
  if (paid.length === 0) return calls.length === 0 ? null : 'no call of it is intercepted';
  const named = paid
    .slice(0, MOST_NAMED)
    .map(
      ({ call, as, callsPerStep, priceNs, taxUs }) =>
        `${call} ${estimateText({ value: taxUs, ci95: null }, 'us', true).value} (${digits(callsPerStep)} × ${quantity(priceNs, 'ns')}${as === undefined ? '' : `, as ${as}`})`,
    );
  const more = paid.length - named.length;
  return plain(`${named.join(', ')}${more > 0 ? `; ${more} more` : ''}`);
}

/**
 * Names calls without a price: `not priced: 12.00 % of its calls: cuFoo (100.0 a step, not measured)`; null if there
 * are none.
 */
function missingCallsText({ missing, callsPerStep }: ProgramCost): string | null {
  if (missing.length === 0) return null;
  const share = missing.reduce((sum, each) => sum + each.callsPerStep, 0) / callsPerStep;
  const named = missing
    .slice(0, MOST_NAMED)
    .map(({ call, callsPerStep: calls, reason }) => `${call} (${digits(calls)}, ${reason})`);
  const more = missing.length - named.length;
  return plain(
    `${digits(100 * share)} % of its calls: ${named.join(', ')}${more > 0 ? ` and ${more} more functions` : ''}`,
  );
}

/** The table; null without a call profile. */
export function programCostTable(view: View): DataTable | null {
  const costs = programCostsOf(view);
  if (costs.length === 0) return null;
  return {
    title: PROGRAM_TITLE,
    columns: [
      { title: 'Program' },
      { title: 'System' },
      numeric('A step', '95 % interval'),
      numeric('Of the step', '95 % interval'),
      { title: 'Step' },
      { title: 'Largest' },
      { title: 'Not priced' },
    ],
    rows: costs.map((cost) => ({
      cells: [
        programName(cost),
        cost.system,
        estimate(taxText(cost), cost.taxUs, 'us'),
        estimate(percentText(cost), cost.percent, '%'),
        stepText(cost),
        contributorsText(cost) ?? '–',
        missingCallsText(cost) ?? '–',
      ],
    })),
  };
}

/** Lines for the terminal. */
export function programCostLines(view: View): string[] {
  const costs = programCostsOf(view);
  const lines = costs.flatMap((cost) => {
    const tax = taxText(cost);
    const percent = percentText(cost);
    const what =
      tax === null
        ? 'no call has a price'
        : `${inOneLine(tax)}${percent ? `, ${inOneLine(percent)}` : ''} of ${stepText(cost)}`;
    const contributors = contributorsText(cost);
    const missing = missingCallsText(cost);
    return [
      plain(`${programName(cost)} under ${cost.system}: ${what}`),
      ...(contributors === null ? [] : [`  ${contributors}`]),
      ...(missing === null ? [] : [`  not priced: ${missing}`]),
    ];
  });
  return lines.length === 0 ? [] : [PROGRAM_NOTE, ...lines];
}

const finite = v.pipe(v.number(), v.finite());

/** The prices in OH-005's details, which come from a file and are not trusted. */
const pricesSchema = v.array(
  v.object({
    name: v.string(),
    callsPerStep: finite,
    taxUs: v.nullable(finite),
    ci95: v.nullable(v.tuple([finite, finite])),
    missing: v.array(v.object({ call: v.string(), callsPerStep: finite })),
  }),
);

/** Lines for one run, with its own prices. */
export function profilePriceLines({ metrics }: RunDocument): string[] {
  const read = v.safeParse(pricesSchema, metrics.find(({ id }) => id === 'OH-005')?.details.profiles);
  if (!read.success) return [];
  const lines = read.output.map(({ name, callsPerStep, taxUs, ci95, missing }) => {
    const tax = taxUs === null ? 'no call has a price' : inOneLine(estimateText({ value: taxUs, ci95 }, 'us', true));
    const left = missing.reduce((sum, each) => sum + each.callsPerStep, 0);
    const unpriced = left === 0 ? '' : `; ${digits((100 * left) / callsPerStep)} % of them are not priced`;
    return plain(`${name}: ${tax} in ${digits(callsPerStep)} calls${unpriced}`);
  });
  return lines.length === 0 ? [] : [PROGRAM_NOTE, ...lines];
}
