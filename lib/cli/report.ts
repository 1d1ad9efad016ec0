/** `gpu-virt-bench report FILE…` */
import { STDOUT } from './output.js';
import { pricedBy, type RawPricing } from '../run/pricing.js';
import { exitCodes } from './exit-codes.js';
import { checkOutputs, type Output, parseOutputs, publish, type RawOutputs } from './document-outputs.js';
import { warn } from './talk.js';
import { merge, type Source } from '../saved/merge.js';
import { readDocument } from '../saved/read.js';

const DEFAULT_FORMAT = 'markdown';

export async function report(files: string[], raw: RawOutputs & RawPricing): Promise<number> {
  const named = parseOutputs(raw);
  const outputs: Output[] = named.length > 0 ? named : [{ format: DEFAULT_FORMAT, target: STDOUT }];
  await checkOutputs(outputs, raw.profile === undefined ? files : [...files, raw.profile]);
  const sources: Source[] = [];
  const impossible: string[] = [];
  for (const file of files) {
    const { document, problems } = await readDocument(file);
    sources.push({ file, document });
    impossible.push(...problems);
  }
  const document = await pricedBy(raw, merge(sources));
  impossible.forEach(warn);
  const code = impossible.length > 0 ? exitCodes.failed : exitCodes.ok;
  // If the reader of standard output closes it, nothing after this runs.
  process.exitCode = code;
  const [failure] = await publish(document, outputs, null);
  if (failure) throw failure;
  return code;
}
