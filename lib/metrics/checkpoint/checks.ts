/** Checks of checkpoints: that the memory left the card, that the host holds it, and that everything came back. */
import type { Check } from '../../results/document.js';
import { formatBytes } from '../../results/text/format-bytes.js';
import { MIB } from '../core/units.js';
import type { HeldTarget } from './held-targets.js';
import type { Turn } from './target-study.js';

/** Pages that the host holds may share blocks with others. */
const MOST = 0.9;
/** What a target's own heap may give back meanwhile. */
const HEAP_BYTES = 8 * MIB;

/** A target that NVML still lists ends the measurement (target-study.ts). */
export function goneCheck(targets: readonly HeldTarget[]): Check {
  const name = 'the memory leaves the card';
  const known = targets.flatMap(({ turns }) => turns).filter(({ processBytes }) => processBytes.before !== null);
  return known.length === 0
    ? { name, passed: 'not checked', detail: 'NVML does not list the targets' }
    : { name, passed: true, detail: `NVML listed no target after its ${known.length} checkpoints` };
}

/** Contents that nobody keeps could not come back. A target that held nothing shows nothing. */
export function hostCheck(targets: readonly HeldTarget[]): Check {
  const name = 'the host holds the memory';
  const turns = targets
    .filter(({ bytes }) => bytes > 0)
    .flatMap(({ bytes, turns }) => turns.map(({ hostBytes }) => ({ bytes, hostBytes })));
  const known = turns.flatMap(({ bytes, hostBytes }) => (hostBytes === null ? [] : [{ bytes, hostBytes }]));
  if (known.length === 0)
    return {
      name,
      passed: 'not checked',
      detail: turns.length === 0 ? 'no target held memory' : "the targets' host memory cannot be read",
    };
  const short = known.find(({ bytes, hostBytes }) => hostBytes < MOST * bytes - HEAP_BYTES);
  return {
    name,
    passed: short === undefined,
    detail: short
      ? `a target of ${formatBytes(short.bytes)} grew by ${formatBytes(Math.max(0, short.hostBytes))} of the host's memory`
      : "each target's host memory grew by what it held",
  };
}

/** What a target held, and what it says after each restore. */
interface Restored {
  bytes: number;
  turns: readonly Pick<Turn, 'verified'>[];
}

export function restoredCheck(targets: readonly Restored[]): Check {
  const name = 'contents, addresses, graph, stream and event are as before';
  const lost = targets.flatMap(({ bytes, turns }) =>
    turns.flatMap(({ verified }) =>
      (['checksums', 'addresses', 'graph', 'stream', 'event'] as const)
        .filter((part) => !verified[part])
        .map((part) => `${part} of a target of ${formatBytes(bytes)}`),
    ),
  );
  return {
    name,
    passed: lost.length === 0,
    detail: lost.length === 0 ? 'after every restore' : [...new Set(lost)].join('; '),
  };
}
