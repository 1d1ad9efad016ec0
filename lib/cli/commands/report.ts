/** `gpu-virt-bench report FILE…` */
import { STDOUT } from '../files/output.js';
import { readPrices, repriced } from '../../costs/repriced.js';
import { pricedBy, type RawPricing } from '../../run/effects/pricing.js';
import { UsageError } from '../../errors/usage-error.js';
import { briefReport } from '../../report/formats/brief.js';
import { shown } from '../../report/text/screen.js';
import { exitCodes } from '../options/exit-codes.js';
import { checkOutputs, type Output, parseOutputs, publish, type RawOutputs } from '../options/document-outputs.js';
import { warn } from '../terminal/talk.js';
import { merge } from '../../saved/merge.js';
import type { Source } from '../../saved/source.js';
import { readDocument } from '../../saved/read.js';

const DEFAULT_FORMAT = 'markdown';

export interface RawReportOptions extends RawOutputs, RawPricing {
  prices?: string;
  brief?: true;
}

function checkBrief(isBrief: boolean, outputs: readonly Output[]): void {
  const other = outputs.find(({ target }) => target === STDOUT);
  if (isBrief && other)
    throw new UsageError(
      `Expected one format on standard output but received --brief and ${other.format}: name a file for ${other.format}.`,
    );
}

export async function report(files: string[], raw: RawReportOptions): Promise<number> {
  const named = parseOutputs(raw);
  const isBrief = raw.brief === true;
  checkBrief(isBrief, named);
  const outputs: Output[] = named.length > 0 || isBrief ? named : [{ format: DEFAULT_FORMAT, target: STDOUT }];
  const inputs = [...files, raw.profile, raw.prices].filter((file) => file !== undefined);
  await checkOutputs(outputs, inputs);
  const prices = raw.prices === undefined ? null : await readPrices(raw.prices);
  const sources: Source[] = [];
  const impossible: string[] = [];
  for (const file of files) {
    const { document, problems } = await readDocument(file);
    sources.push({ file, document });
    impossible.push(...problems);
  }
  const merged = await pricedBy(raw, merge(sources));
  const document = prices ? repriced(merged, prices) : merged;
  impossible.forEach(warn);
  const code = impossible.length > 0 ? exitCodes.failed : exitCodes.ok;
  // If the reader of standard output closes it, nothing after this runs.
  process.exitCode = code;
  const [failure] = await publish(document, outputs, isBrief ? shown(briefReport(document)) : null);
  if (failure) throw failure;
  return code;
}
