/** The parts of a document's environment that affect its numbers, and the differences between two documents. */
import type { RunDocument } from '../results/document.js';
import { sliceText } from '../environment/named-gpu.js';
import { cudaVersion } from '../results/text/cuda-version.js';
import { bytes } from '../results/text/plain.js';
import { isSimulated, type ResultDocument, roundsOf } from '../results/kinds.js';
import { medianOf } from '../results/view.js';
import { manner } from '../run/resume.js';
import type { Environment } from './document.js';

/** The health checks allow the same change of the clock while a metric runs. */
const CLOCK_DRIFT = 0.03;

const each = (texts: readonly string[]): string => [...new Set(texts)].join('; ') || 'unknown';

export function environmentOf(document: ResultDocument): Environment {
  const rounds = roundsOf(document);
  return {
    startedAt: document.startedAt,
    tool: document.tool.version,
    simulated: isSimulated(document),
    gpu: each(rounds.map(gpuText)),
    driver: each(rounds.map(driverText)),
    host: each(rounds.map(({ host }) => `${host.cpu}, ${host.usableCores} of ${host.cores} cores`)),
    manner: each(rounds.map(({ plan }) => manner(plan))),
    rounds: 'rounds' in document.plan ? document.plan.rounds : 1,
    smClockMhz: clockUnderLoad(rounds),
  };
}

function gpuText({ gpu }: RunDocument): string {
  const models = gpu.map((card) => {
    const { name, memoryBytes, persistenceMode } = card;
    const persistence = persistenceMode === null ? 'unknown' : persistenceMode ? 'on' : 'off';
    return `${name}, ${bytes(memoryBytes)}, ${sliceText(card)}, persistence ${persistence}`;
  });
  return models.length > 0 ? each(models) : 'unknown';
}

function driverText({ driver: { version, cudaVersion: encoded } }: RunDocument): string {
  return `${version ?? 'unknown'}, CUDA ${cudaVersion(encoded)}`;
}

function clockUnderLoad(rounds: readonly RunDocument[]): number | null {
  const clocks = rounds.flatMap(({ sampler }) =>
    sampler ? sampler.smClockMhz.filter((clock, i) => clock !== null && (sampler.gpuPercent[i] ?? 0) > 0) : [],
  );
  return medianOf(clocks.filter((clock) => clock !== null));
}

const facts = [
  ['GPU', 'gpu'],
  ['driver', 'driver'],
  ['host', 'host'],
  ['set of measuring options', 'manner'],
  ['version of gpu-virt-bench', 'tool'],
] as const;

/** One line per difference that could be mistaken for an effect of a system. */
export function environmentDifferences(now: Environment, then: Environment): string[] {
  const differing = facts
    .filter(([, key]) => now[key] !== then[key])
    .map(([what, key]) => `The ${what} differs from the baseline's: ${now[key]} against ${then[key]}.`);
  return [...differing, ...clockDifference(now.smClockMhz, then.smClockMhz)];
}

function clockDifference(now: number | null, then: number | null): string[] {
  if (now === null || then === null) return [];
  const drift = Math.abs(now - then) / Math.max(now, then);
  if (drift <= CLOCK_DRIFT) return [];
  return [
    `The SM clock under load differs from the baseline's by ${(100 * drift).toFixed(1)} %: ${now} MHz against ${then} MHz.`,
  ];
}
