/** What the rows of each kind of details say: a word, a judgement, a note. */
import { formatBytes } from '../../results/text/format-bytes.js';
import { shareOnChip } from '../../metrics/isolation/shared/surfaces.js';
import { bytes, number } from '../../results/text/plain.js';
import type { DetailRows, Fault, Limit, MemoryPath } from './rows.js';

/** `good` and `bad` are judgements of the metric; `none` means not tested, `plain` not judged. */
export type State = 'bad' | 'unclear' | 'good' | 'plain' | 'none';

export interface Outcome {
  state: State;
  word: string;
  note: string;
  /**
   * Name of the row in a list of outcomes, if its keys are too long or do not tell. `brief` says what about it, in
   * short.
   */
  named?: string;
  brief?: string;
}

/** One row in one round. */
export interface Entry extends Outcome {
  keys: readonly string[];
  /** Weight by which one of several rounds with the same outcome is shown: the greatest. */
  weight: number;
}

export interface Kind {
  title: string;
  keys: readonly string[];
  entries: (rows: DetailRows) => Entry[];
  /** A second observation of the same rows, in columns of its own: `hami-core: NVML`. */
  beside?: { heading: string; entries: (rows: DetailRows) => Entry[] };
}

export const joined = (parts: readonly (string | false | null | undefined)[]): string =>
  parts.filter(Boolean).join('; ');

const pathStates: Record<MemoryPath['outcome'], State> = {
  enforced: 'good',
  'limited per process': 'good',
  leaks: 'bad',
  'wrong error': 'bad',
  unsupported: 'none',
};

const memoryPaths: Kind = {
  title: 'Memory per path against the limit',
  keys: ['Path'],
  entries: ({ memoryPaths: rows }) =>
    rows.map(({ path, outcome, grantedBytes, limitBytes, code, reason }) => ({
      keys: [path],
      word: outcome,
      state: pathStates[outcome],
      ...(outcome === 'limited per process' && { brief: bytes(grantedBytes ?? 0) }),
      note: joined([
        grantedBytes !== null && `granted ${bytes(grantedBytes)}, limit ${bytes(limitBytes)}`,
        code !== undefined && `code ${code}`,
        reason,
      ]),
      weight: grantedBytes ?? -1,
    })),
};

const evictions: Kind = {
  title: 'Soft memory limits on a full card: a tenant asks for memory that a first one holds',
  keys: ['First tenant holds'],
  entries: ({ evictions: rows }) =>
    rows.map((row) => {
      const keys = [row.firstHolds];
      if ('notMeasured' in row) return { keys, word: 'not measured', state: 'none', note: row.notMeasured, weight: -1 };
      const { firstBytes, askedBytes, grantedBytes, refusal, tookMs, outcome, told, passed } = row;
      return {
        keys,
        word: passed ? 'soft limits kept' : 'not kept',
        state: passed ? 'good' : 'bad',
        brief: `the first tenant ${outcome}`,
        note: joined([
          `the first tenant, with ${bytes(firstBytes)}: ${outcome}`,
          told !== null && `told ${told}`,
          `the other got ${bytes(grantedBytes)} of ${bytes(askedBytes)} in ${number(tookMs)} ms`,
          refusal,
        ]),
        weight: tookMs,
      };
    }),
};

const launchPaths: Kind = {
  title: 'Launch paths against the compute limit',
  keys: ['Path'],
  entries: ({ launchPaths: rows }) =>
    rows.map(({ path, outcome, achievedPercent, limitPercent, reason }) => ({
      keys: [path],
      word: outcome,
      state: outcome === 'throttled' ? 'good' : outcome === 'unsupported' ? 'none' : 'bad',
      note: joined([
        achievedPercent !== null && `${number(achievedPercent)} % of the card, limit ${number(limitPercent)} %`,
        reason,
      ]),
      weight: achievedPercent ?? -1,
    })),
};

function harm(victim: string): string | null {
  if (victim === 'unharmed') return null;
  if (victim.startsWith('no result')) return 'neighbour stalled';
  return victim.endsWith('wrong results') ? 'neighbour had wrong results' : 'neighbour failed';
}

/** Says which parts of the test failed; the sentences about them are among the violations. */
const whatFailed = ({ expectedCode, code, victim, newTenant }: Fault): string =>
  [
    code === null ? 'it did not happen' : code !== expectedCode && `the tenant got ${code}`,
    harm(victim),
    newTenant !== 'starts' && 'no new tenant started',
  ]
    .filter(Boolean)
    .join(', ');

const faults: Kind = {
  title: 'Faults, and their effect on a neighbour',
  keys: ['Fault', 'Expected code'],
  entries: ({ faults: rows }) =>
    rows.map((row) => {
      const { fault, expectedCode, code, victim, longestStallMs, newTenant, xids, passed } = row;
      return {
        keys: [fault, expectedCode],
        named: fault,
        ...(!passed && { brief: whatFailed(row) }),
        word: passed ? 'passed' : 'failed',
        state: passed ? 'good' : 'bad',
        note: joined([
          code === null ? 'no code seen' : code === expectedCode ? 'expected code' : `code ${code}`,
          `victim ${victim}`,
          longestStallMs === null ? 'stall not measured' : `longest stall ${number(longestStallMs)} ms`,
          `new tenant ${newTenant}`,
          xids === null ? 'Xids not read' : xids.length > 0 && `Xid ${xids.join(', ')}`,
        ]),
        weight: longestStallMs ?? -1,
      };
    }),
};

/** Says what was found. On the chip, bytes are a sum over scans of the same memory. */
function foundText(surface: string, found: number, lookedAtBytes: number | undefined): string {
  const share = shareOnChip(surface, found, lookedAtBytes);
  return share === null ? formatBytes(found) : `${share} of what was scanned`;
}

const surfaces: Kind = {
  title: 'Memory content that the next tenant can read',
  keys: ['Surface', 'After'],
  entries: ({ surfaces: rows }) =>
    rows.map(({ surface, transition, control, outcome, bytes: found, lookedAtBytes, reason }) => ({
      keys: [surface, transition],
      ...(outcome === 'leaks' && { brief: foundText(surface, found ?? 0, lookedAtBytes) }),
      word: control === 'failed' ? 'control failed' : outcome,
      state:
        control === 'failed' || outcome === 'unexplained'
          ? 'unclear'
          : ({ clean: 'good', leaks: 'bad', unsupported: 'none' } as const)[outcome],
      note: joined([found !== null && found > 0 && foundText(surface, found, lookedAtBytes), reason]),
      weight: found ?? -1,
    })),
};

const reports: Kind = {
  title: 'What a tenant is told about its GPU',
  keys: ['Report'],
  entries: ({ reports: rows }) =>
    rows.map(({ source, says, expected, agrees }) => ({
      keys: [source],
      named: source.replace(': ', ' '),
      ...(agrees === false && { brief: `${says}, not ${expected}` }),
      word: agrees === null ? 'not compared' : agrees ? 'as expected' : 'not as expected',
      state: agrees === null ? 'none' : agrees ? 'good' : 'bad',
      note: agrees === false ? `${says}, expected ${expected}` : says,
      weight: 0,
    })),
};

const notRun = /^(unsupported|not run|skipped)/;

const probes: Kind = {
  title: 'Compatibility: what real software does, against native',
  keys: ['Probe', 'Public issue'],
  entries: ({ probes: rows }) =>
    rows.map(({ probe, issue, outcome, native, at, escape }) => ({
      keys: [probe, issue],
      word: outcome,
      state: outcome === 'same' ? 'good' : notRun.test(outcome) ? 'none' : 'bad',
      note: joined([at !== undefined && `in ${at}`, escape, native !== '' && `native: ${native}`]),
      weight: 0,
    })),
};

const keysOf = ({ smPercent, shape }: Limit): string[] => [`${number(smPercent)} %`, shape];

const percent = (value: number | null): string => (value === null ? 'not known' : `${number(value)} %`);

/** What NVML reports beside each limit. Its utilisation is not judged, because a single block is enough for 100 %. */
const nvml: NonNullable<Kind['beside']> = {
  heading: 'NVML utilisation',
  entries: ({ limits: rows }) =>
    rows.flatMap((row) => {
      if (!row.nvml) return [];
      const { gpuPercent, processPercent, reason } = row.nvml;
      return {
        keys: keysOf(row),
        word: percent(gpuPercent),
        state: 'plain',
        note: joined([processPercent !== null && `of the process ${percent(processPercent)}`, reason]),
        weight: gpuPercent ?? -1,
      };
    }),
};

const limits: Kind = {
  title: 'Compute limits by shape of load, and the mechanism that the trace shows',
  keys: ['Limit', 'Shape'],
  entries: ({ limits: rows }) =>
    rows.map((row) => {
      const { kernelMs, achievedPercent, mechanism, unsupported, failed } = row;
      return {
        keys: keysOf(row),
        word:
          achievedPercent == null ? (failed === undefined ? 'unsupported' : 'failed') : `${number(achievedPercent)} %`,
        state: achievedPercent != null ? 'plain' : failed === undefined ? 'none' : 'unclear',
        // A measured value differs between systems, so it cannot be a key.
        note: joined([
          mechanism?.name,
          mechanism?.evidence,
          kernelMs != null && `kernels of ${number(kernelMs)} ms`,
          unsupported ?? failed,
        ]),
        weight: achievedPercent ?? -1,
      };
    }),
  beside: nvml,
};

export const kinds: readonly Kind[] = [memoryPaths, evictions, launchPaths, limits, surfaces, faults, reports, probes];
