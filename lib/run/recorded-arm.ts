/** Whether rounds of another session may stand for those of a system, and what a reader has to know of them. */
import { toolVersion } from '../environment/tool.js';
import { profileOf } from '../environment/named-gpu.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import type { RunDocument } from '../results/document.js';
import { type Circumstances, manner } from './resume.js';

interface Compared {
  tool: string;
  circumstances: Circumstances;
}

/** An instance is compared with its whole card, whose name has no profile. */
const modelOf = ({ gpu }: Circumstances): string =>
  [...new Set(gpu.map(({ name, simulated }) => `${simulated ? 'simulated' : 'real'} ${withoutProfile(name)}`))].join();

function withoutProfile(name: string): string {
  const profile = profileOf(name);
  return profile === null ? name : name.slice(0, -` MIG ${profile}`.length);
}

const facts: readonly [what: string, of: (compared: Compared) => string][] = [
  ['version of gpu-virt-bench', ({ tool }) => tool],
  ['model of GPU', ({ circumstances }) => modelOf(circumstances)],
  ['driver', ({ circumstances }) => circumstances.driver.version ?? 'unknown'],
  ['manner of measuring', ({ circumstances }) => manner(circumstances.plan)],
];

/** Throws UsageError at the first difference that would be taken for one of the systems. */
export function checkRecorded(recorded: readonly RunDocument[], now: Circumstances, file: string): void {
  const own = { tool: toolVersion(), circumstances: now };
  for (const document of recorded)
    for (const [what, of] of facts) {
      const other = of({ tool: document.tool.version, circumstances: document });
      if (other !== of(own))
        throw new UsageError(
          `Expected recorded of native to be a result with the same ${what} as this comparison (${of(own)}) but received ${quoted(file)} with ${other}: measure native again in that way, or leave it out.`,
        );
    }
}

/** What no interval knows: sessions differ too. `planned`: ids of metrics, which the result may lack. */
export function recordedNote(recorded: readonly RunDocument[], file: string, planned: readonly string[]): string {
  const missing = planned.filter((id) => recorded.every(({ metrics }) => metrics.every((metric) => metric.id !== id)));
  const days = [...new Set(recorded.map(({ startedAt }) => startedAt.slice(0, 10)))].join(', ');
  const cards = [...new Set(recorded.flatMap(({ gpu }) => gpu.map(({ uuid }) => uuid)))].join(', ');
  const name = recorded[0]?.system.name ?? 'native';
  return `${name} was not measured now: its rounds are those of ${days} on ${cards}, from ${file}. Effects against it also hold what differs between the two sessions, which no interval knows.${missing.length === 0 ? '' : ` It has no ${missing.join(', ')}.`}`;
}
