/** `gpu-virt-bench fleet report DIR` */
import { didYouMean } from '../../../errors/closest.js';
import { quoted, UsageError } from '../../../errors/usage-error.js';
import { readPlan } from '../../../fleet/plan.js';
import type { FleetReport, NodeVerdict } from '../../../fleet/report/document.js';
import { DEFAULT_LEAST, fleetReport, nodeVerdict } from '../../../fleet/report/fleet-report.js';
import { type CardLimit, parseLimit } from '../../../fleet/report/limits.js';
import { metrics } from '../../../metrics/registry.js';
import { exitCodes } from '../../options/exit-codes.js';
import { checkTarget, failureOf, STDOUT, type Text, writeStdout, writeText, writeWhole } from '../../files/output.js';
import { sayUnwritten, warn } from '../../terminal/talk.js';

const formats = ['json', 'markdown', 'html'] as const;
type FleetFormat = (typeof formats)[number];

export interface RawFleetReportOptions extends Partial<Record<FleetFormat, string>> {
  node?: string;
  limit?: string[];
  least?: string;
}

export async function report(folder: string, raw: RawFleetReportOptions): Promise<number> {
  const settings = { limits: (raw.limit ?? []).map(limitOf), least: parseLeast(raw.least) };
  const outputs = formats.flatMap((format) => (raw[format] === undefined ? [] : [{ format, target: raw[format] }]));
  await checkTargets(outputs, raw.node !== undefined);
  const found = await fleetReport(folder, await readPlan(folder), settings);
  const verdict = raw.node === undefined ? null : verdictOf(found, raw.node);
  const code = verdict ? codeOf(verdict) : found.coverage.delivered > 0 ? exitCodes.ok : exitCodes.failed;
  process.exitCode = code;
  const unwritten = await written(found, outputs);
  const toStdout = outputs.some(({ target }) => target === STDOUT);
  // The text has them.
  if (toStdout || verdict) found.warnings.forEach(warn);
  const untold = toStdout ? null : await failureOf(told(found, verdict));
  const failures = [...unwritten, ...(untold ? [untold] : [])];
  sayUnwritten(failures);
  return failures.length > 0 ? exitCodes.failed : code;
}

async function told(found: FleetReport, verdict: NodeVerdict | null): Promise<void> {
  if (verdict) return writeStdout(`${JSON.stringify(verdict, null, 2)}\n`);
  const { fleetText } = await import('../../../fleet/report/text.js');
  return writeText(`${fleetText(found)}\n`);
}

/** Only a verdict that lets the node be used is 0. */
const codeOf = ({ verdict }: NodeVerdict): number =>
  verdict === 'CRITICAL' || verdict === 'UNKNOWN' ? exitCodes.failed : exitCodes.ok;

interface FleetOutput {
  format: FleetFormat;
  target: string;
}

async function checkTargets(outputs: readonly FleetOutput[], isOfNode: boolean): Promise<void> {
  for (const { format, target } of outputs) await checkTarget(target, `--${format}`);
  const onStdout = outputs.filter(({ target }) => target === STDOUT);
  if (onStdout.length + (isOfNode ? 1 : 0) > 1)
    throw new UsageError(
      `Expected one document on standard output but received several: name a file for --${onStdout[0]?.format}.`,
    );
}

async function written(found: FleetReport, outputs: readonly FleetOutput[]): Promise<Error[]> {
  const failures: (Error | null)[] = [];
  for (const { format, target } of outputs) {
    const write = (text: Text) => (target === STDOUT ? writeStdout(text) : writeWhole(target, text));
    failures.push(await failureOf(rendered(found, format).then(write)));
  }
  return failures.filter((failure) => failure !== null);
}

async function rendered(found: FleetReport, format: FleetFormat): Promise<string> {
  if (format === 'json') return `${JSON.stringify(found, null, 2)}\n`;
  if (format === 'markdown') return (await import('../../../fleet/report/text.js')).fleetMarkdown(found);
  return (await import('../../../fleet/report/page.js')).fleetPage(found);
}

function verdictOf(found: FleetReport, node: string): NodeVerdict {
  const verdict = nodeVerdict(found, node);
  if (verdict) return verdict;
  const names = found.nodes.flatMap(({ node: each }) => each ?? []);
  const hint = didYouMean(node, names, `there are ${names.length} nodes.`);
  throw new UsageError(`Expected --node to be a node of the fleet but received ${quoted(node)}: ${hint}`);
}

/** A limit of a metric that is none would find nothing. Throws UsageError. */
function limitOf(text: string): CardLimit {
  const limit = parseLimit(text);
  const ids = metrics.map(({ id }) => id);
  if (ids.some((id) => limit.matches(id))) return limit;
  const { metric } = limit;
  const hint = didYouMean(metric, ids, 'gpu-virt-bench list shows them.');
  throw new UsageError(
    `Expected --limit to name a metric id or a glob over ids but received ${quoted(metric)}: ${hint}`,
  );
}

function parseLeast(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LEAST;
  const value = /^\d+(?:\.\d+)?%?$/.test(text) ? Number(text.replace('%', '')) : Number.NaN;
  if (value >= 0 && value <= 1_000) return value / 100;
  throw new UsageError(`Expected --least to be a percentage from 0 to 1000, e.g. 5%, but received ${quoted(text)}.`);
}
