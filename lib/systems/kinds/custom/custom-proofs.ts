/** The outcome of each `verify` step of a custom system. */
import { baseName } from '../../../native/base-name.js';
import type { Description } from '../../../workers/description.js';
import { allocationCanary, measuredDevice } from '../../proof/attestation.js';
import type { Finding } from '../../proof/proof-finding.js';
import { type Finished } from '../../process/command.js';
import type { Step } from './custom-profile.js';
import { exportedSymbols } from '../../proof/elf.js';
import { inWords, resolveSize } from '../../../config/size.js';
import { matches, tookTooLong } from '../../input/pattern.js';
import type { Evidence, TrueGpu } from '../../system.js';

interface StepContext {
  description: Description;
  evidence: Evidence;
  gpu: TrueGpu;
  fill: (text: string) => string;
  run: (argv: readonly string[]) => Promise<Finished>;
  signal: AbortSignal | undefined;
}

type Of<S extends Step['step']> = Extract<Step, { step: S }>;

export function judgeStep(step: Step, context: StepContext): Finding | Promise<Finding> {
  switch (step.step) {
    case 'symbolOwner':
      return symbolOwner(step, context);
    case 'symbolExported':
      return symbolExported(step, context);
    case 'env':
      return environmentVariable(step, context);
    case 'smCount':
      return smCount(step, context);
    case 'totalMemory':
      return totalMemory(step, context);
    case 'allocationCanary':
      return canary(step, context);
    case 'command':
      return command(step, context);
  }
}

/** Only on the measured path: a layer on another path says nothing about these numbers. */
async function symbolOwner(
  { symbol, matches: pattern }: Of<'symbolOwner'>,
  { description, evidence, signal }: StepContext,
): Promise<Finding> {
  const { functions, nvml } = description.provenance;
  const same = (name: string) => name === symbol || baseName(name) === symbol;
  const row = functions.find(({ name }) => same(name));
  const pointed = row ? row.owners[evidence.path] : (nvml.find(({ name }) => same(name))?.owners.dlsym ?? null);
  const owner = row?.patched?.owner ?? pointed;
  const found = owner === null ? false : await matches(pattern, owner, { signal });
  const owned = `${owner ?? 'no library'} owns it on ${row ? evidence.path : 'dlsym'}`;
  return {
    proof: `owner of ${symbol} matches ${pattern.source}`,
    passed: found === true,
    detail: found === null ? `${owned}; ${tookTooLong(pattern)}` : owned,
    advice: 'Correct the pattern, or the LD_PRELOAD that should map the layer.',
  };
}

async function symbolExported({ symbol }: Of<'symbolExported'>, { description }: StepContext): Promise<Finding> {
  const preloaded = description.preload.flatMap(({ mapped }) => (mapped === null ? [] : [mapped]));
  const files = [...new Set([...preloaded, ...description.provenance.objects.map(({ path }) => path)])];
  const symbols = await Promise.all(files.map(exportedSymbols));
  const exporter = files.find((_, i) => symbols[i]?.has(symbol));
  return {
    proof: `${symbol} is exported`,
    passed: exporter !== undefined,
    detail: exporter ? `by ${exporter}` : `by none of ${files.length} preloaded or hooking objects`,
    advice: 'Give the build of the layer that exports it.',
  };
}

function environmentVariable({ name, value }: Of<'env'>, { description, fill }: StepContext): Finding {
  const { environment } = description;
  const found = Object.hasOwn(environment, name) ? environment[name] : undefined;
  const passed = found === fill(value);
  return {
    proof: `${name} in the worker's environment`,
    passed,
    detail: found === undefined ? 'it is not set' : passed ? 'it is as set' : 'it has another value',
    advice: 'Set it with env; a prefix or the layer may have changed it.',
  };
}

function smCount({ least, most }: Of<'smCount'>, { description, gpu }: StepContext): Finding {
  const count = measuredDevice(description, gpu)?.multiprocessors ?? null;
  return {
    proof: `multiprocessors from ${least} to ${most}`,
    passed: count === null ? null : count >= least && count <= most,
    detail:
      count === null ? `the worker does not see ${gpu.uuid}` : `the worker sees ${count} of ${gpu.multiprocessors}`,
    advice: "Check the layer's compute limit.",
  };
}

function totalMemory({ least, most }: Of<'totalMemory'>, { description, evidence, gpu }: StepContext): Finding {
  // A bound may exceed the card's memory, unlike a limit.
  const bytes = (size: typeof least) =>
    'bytes' in size ? size.bytes : resolveSize(size, gpu.memoryBytes, 'totalMemory');
  const [low, high] = [bytes(least), bytes(most)];
  const seen = evidence.probe?.visibleTotalBytes ?? measuredDevice(description, gpu)?.visibleMemoryBytes ?? null;
  return {
    proof: `total memory from ${inWords(low)} to ${inWords(high)}`,
    passed: seen === null ? null : seen >= low && seen <= high,
    detail: seen === null ? 'the worker got no total' : `the worker sees ${inWords(seen)}`,
    advice: "Check the layer's memory limit.",
  };
}

function canary({ size }: Of<'allocationCanary'>, { evidence, gpu }: StepContext): Finding {
  const bytes = resolveSize(size, gpu.memoryBytes, 'allocationCanary');
  return allocationCanary(evidence.probe, [{ bytes, expected: 'refused' }])[0] as Finding;
}

async function command({ argv, exit, matches: pattern }: Of<'command'>, context: StepContext): Promise<Finding> {
  const { run, fill, evidence, signal } = context;
  const filled = argv.map(fill);
  const wanted = pattern ? `, output matching ${pattern.source}` : '';
  const proof = `${filled.join(' ')} ends with exit code ${exit}${wanted}`;
  // Tests the system, not a single process.
  if (evidence.phase === 'process') return { proof, passed: null, detail: 'it is run once a round' };
  const finished = await run(filled);
  const found = pattern === null || (await matches(pattern, finished.output, { signal }));
  const notes = [
    ...(finished.isCut && pattern ? ['only the end of its output is kept and was looked at'] : []),
    ...(found === null && pattern ? [tookTooLong(pattern)] : []),
  ];
  return {
    proof,
    passed: finished.exit === exit && found === true,
    detail: [`it ${finished.how}`, ...notes].join('; '),
    advice: 'Run it by hand to see why.',
  };
}
