// Measures `fleet report` over many deliveries, made from a recorded document by changing its values: how long it takes, how
// much memory, and whether it names the slow card that was put in. Exits with 1 if a limit is not met; time has one from 10 000
// documents on.
// Usage: node bench/fleet.js [--documents N] [--metrics first|all] [--keep]   (default: 10000 of a first run)
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clearInterval, setInterval } from 'node:timers';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { firstRun } from '../dist/metrics/first-run.js';
import { gaussianFrom, seededRandom } from '../dist/stats/random.js';
import { recordText } from './records.js';

const RECORD = 'h100/2026-11-26-08f1de46/native.json.gz';
/** For 10 000 documents of at most 100 kB; others in proportion to their bytes. */
const LIMIT = { documents: 10_000, seconds: 60, megabytes: 1_000, documentBytes: 100_000 };
/** Between cards, of logarithms. */
const NOISE = 0.01;
const SLOW = { place: 0.6, factor: 1.3 };

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: String(LIMIT.documents) },
    metrics: { type: 'string', default: 'first' },
    keep: { type: 'boolean', default: false },
  },
});
const count = Number(values.documents);
const tool = { name: 'gpu-virt-bench', version: '0.1.0' };
const started = '2026-01-01T00:00:00.000Z';

const { sampler: _, ...recorded } = JSON.parse(recordText(RECORD));
const metrics = recorded.metrics.filter(({ id }) => values.metrics === 'all' || firstRun.includes(id));
const slow = Math.floor(SLOW.place * count);

const scaled = (value, factor) => (typeof value === 'number' ? value * factor : value);

/** The result with its number and its distribution multiplied; signed values and answers are kept. */
function changed(result, factor) {
  if (result.status !== 'ok' || !(result.value > 0) || ['boolean', '%'].includes(result.unit)) return result;
  const { value, ci95, blocks, processValues, stats } = result;
  const each = (list) => list?.map((one) => scaled(one, factor));
  const scaledStats =
    stats &&
    Object.fromEntries(
      Object.entries(stats).map(([name, one]) => [
        name,
        ['count', 'effectiveSamples', 'cv'].includes(name) ? one : scaled(one, factor),
      ]),
    );
  return {
    ...result,
    value: value * factor,
    ci95: each(ci95) ?? null,
    stats: scaledStats,
    ...(blocks && { blocks: each(blocks) }),
    ...(processValues && { processValues: each(processValues) }),
  };
}

/** Writes the plan and all deliveries; returns the bytes of the documents, packed and unpacked. */
function write(folder) {
  const gaussian = gaussianFrom(seededRandom(1));
  const plan = {
    kind: 'fleet-plan',
    schemaVersion: 1,
    tool,
    id: 'bench',
    created: started,
    scheduler: 'none',
    tasks: Array.from({ length: count }, (_, index) => ({ index })),
    command: 'run',
    arguments: [],
  };
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan));
  const bytes = { packed: 0, unpacked: 0, largest: 0 };
  for (let index = 0; index < count; index++) {
    const uuid = `GPU-${String(index).padStart(12, '0')}`;
    const document = {
      ...recorded,
      gpu: recorded.gpu.map((card) => ({ ...card, uuid, powerLimitW: 700, vbios: '96.00.89.00.01' })),
      plan: { ...recorded.plan, metrics: metrics.map(({ id }) => id) },
      metrics: metrics.map((result) => {
        // More is worse, or less is.
        const slowness = index === slow ? SLOW.factor : 1;
        const factor = Math.exp(NOISE * gaussian());
        return changed(result, result.direction === 'higher' ? factor / slowness : factor * slowness);
      }),
    };
    const text = JSON.stringify(document);
    const packed = gzipSync(text, { level: 1 });
    const place = join(folder, 'deliveries', String(index));
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'document.json.gz'), packed);
    const seal = { bytes: packed.length, sha256: createHash('sha256').update(packed).digest('hex') };
    const delivery = {
      kind: 'fleet-delivery',
      schemaVersion: 1,
      tool,
      plan: 'bench',
      index,
      attempt: 1,
      node: `n${index}`,
      started,
      ended: started,
      exitCode: 0,
      gpus: [uuid],
      document: seal,
    };
    writeFileSync(join(place, 'delivery.json'), JSON.stringify(delivery));
    bytes.packed += packed.length;
    bytes.unpacked += text.length;
    bytes.largest = Math.max(bytes.largest, text.length);
  }
  return bytes;
}

/** Runs the command as users do; its peak of resident memory is read while it runs. */
function reported(folder) {
  const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
  const json = join(folder, 'report.json');
  const from = performance.now();
  const child = spawn(process.execPath, [main, 'fleet', 'report', folder, '--json', json], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peakKb = 0;
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // It has just ended.
    }
  }, 50);
  return new Promise((resolve) =>
    child.once('close', (code) => {
      clearInterval(look);
      const seconds = (performance.now() - from) / 1e3;
      resolve({ code, seconds, megabytes: (peakKb * 1_024) / 1e6, report: JSON.parse(readFileSync(json, 'utf8')) });
    }),
  );
}

const folder = mkdtempSync(join(tmpdir(), 'gvb-fleet-bench-'));
try {
  const bytes = write(folder);
  const { code, seconds, megabytes, report } = await reported(folder);
  const { coverage, outliers, tests } = report;
  const share = Math.max(count / LIMIT.documents, bytes.unpacked / (LIMIT.documents * LIMIT.documentBytes));
  const limitSeconds = count < LIMIT.documents ? Infinity : LIMIT.seconds * share;
  const slowFound = outliers.filter(({ node }) => node === `n${slow}`).length;
  const others = outliers.length - slowFound;
  console.log(
    `${count} documents of ${metrics.length} metrics, ${(bytes.unpacked / count / 1e3).toFixed(1)} kB each (${(bytes.packed / count / 1e3).toFixed(1)} kB packed), ${availableParallelism()} cores: ${seconds.toFixed(1)} s (limit ${Number.isFinite(limitSeconds) ? `${limitSeconds.toFixed(0)} s` : 'none'}), ${megabytes.toFixed(0)} MB (limit ${LIMIT.megabytes} MB).`,
  );
  console.log(
    `${coverage.cards} cards, ${tests} tests; the slow card has ${slowFound} outliers, ${others} are of other cards.`,
  );
  const isMet =
    code === 0 &&
    coverage.delivered === count &&
    seconds <= limitSeconds &&
    megabytes <= LIMIT.megabytes &&
    slowFound > 0;
  process.exitCode = isMet ? 0 : 1;
} finally {
  if (values.keep) console.log(folder);
  else rmSync(folder, { recursive: true, force: true });
}
