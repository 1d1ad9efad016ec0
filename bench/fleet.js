// Measures `fleet report` over many deliveries, made from a recorded document by changing its values: how long it takes, how
// much memory, and whether it names the slow card that was put in. Exits with 1 if a limit is not met; time has one from 10 000
// documents on. A second row has comparisons with their samples, which are merged by their bytes.
// Usage: node bench/fleet.js [--documents N] [--metrics first|all] [--comparisons N] [--keep]
//   (default: 10000 runs of the first set, then 100 comparisons; 0 leaves a row out)
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

const RECORDS = { run: 'h100/2026-11-26-08f1de46/native.json.gz', compare: 'h200/2026-11-26-02ceac17/layers.json.gz' };
/** For 10 000 documents of at most 100 kB; others in proportion to their bytes, so at this rate. */
const LIMIT = { documents: 10_000, seconds: 60, megabytes: 1_000, documentBytes: 100_000 };
const LIMIT_RATE = (LIMIT.documents * LIMIT.documentBytes) / LIMIT.seconds;
/** As many as a result has where they are kept. */
const SAMPLES = 1_000;
/** Between cards, of logarithms. */
const NOISE = 0.01;
const SLOW = { place: 0.6, factor: 1.3 };

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: String(LIMIT.documents) },
    metrics: { type: 'string', default: 'first' },
    comparisons: { type: 'string', default: '100' },
    keep: { type: 'boolean', default: false },
  },
});
const tool = { name: 'gpu-virt-bench', version: '0.1.0' };
const started = '2026-01-01T00:00:00.000Z';
const gaussian = gaussianFrom(seededRandom(1));

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

/** More is worse, or less is. */
function noisy(result, slowness) {
  const factor = Math.exp(NOISE * gaussian());
  return changed(result, result.direction === 'higher' ? factor / slowness : factor * slowness);
}

const onCard = (round, uuid, metrics) => ({
  ...round,
  gpu: round.gpu.map((card) => ({ ...card, uuid, powerLimitW: 700, vbios: '96.00.89.00.01' })),
  metrics,
});

/** Runs of a first set, or of all metrics. */
function runs() {
  const { sampler: _, ...recorded } = JSON.parse(recordText(RECORDS.run));
  const metrics = recorded.metrics.filter(({ id }) => values.metrics === 'all' || firstRun.includes(id));
  const plan = { ...recorded.plan, metrics: metrics.map(({ id }) => id) };
  return (uuid, slowness) => ({
    ...onCard(
      recorded,
      uuid,
      metrics.map((result) => noisy(result, slowness)),
    ),
    plan,
  });
}

const withSamples = (result) =>
  result.status === 'ok' && result.value > 0
    ? { ...result, samples: Array.from({ length: SAMPLES }, () => result.value * Math.exp(NOISE * gaussian())) }
    : result;

/** Comparisons whose results have their samples; on the slow card the systems beside the first one are. */
function comparisons() {
  const recorded = JSON.parse(recordText(RECORDS.compare));
  return (uuid, slowness) => ({
    ...recorded,
    systems: recorded.systems.map((rounds, system) =>
      rounds.map((round) =>
        onCard(
          round,
          uuid,
          round.metrics.map((result) => withSamples(noisy(result, system === 0 ? 1 : slowness))),
        ),
      ),
    ),
  });
}

/** Writes the plan and all deliveries; returns the bytes of the documents, packed and unpacked. */
function write(folder, { command, count, slow, documentOf }) {
  const plan = {
    kind: 'fleet-plan',
    schemaVersion: 1,
    tool,
    id: 'bench',
    created: started,
    scheduler: 'none',
    tasks: Array.from({ length: count }, (_, index) => ({ index })),
    command,
    arguments: [],
  };
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan));
  const bytes = { packed: 0, unpacked: 0 };
  for (let index = 0; index < count; index++) {
    const uuid = `GPU-${String(index).padStart(12, '0')}`;
    const text = JSON.stringify(documentOf(uuid, index === slow ? SLOW.factor : 1));
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

/** One row: writes the documents, and reports them. Answers whether its limits are met. */
async function row(command, count, makes) {
  const folder = mkdtempSync(join(tmpdir(), 'gvb-fleet-bench-'));
  try {
    const slow = Math.floor(SLOW.place * count);
    const bytes = write(folder, { command, count, slow, documentOf: makes() });
    const { code, seconds, megabytes, report } = await reported(folder);
    const { coverage, outliers, tests } = report;
    const share = Math.max(count / LIMIT.documents, bytes.unpacked / (LIMIT.documents * LIMIT.documentBytes));
    // A few documents take as long as the start of the command.
    const isLarge = count >= LIMIT.documents || bytes.unpacked / count > LIMIT.documentBytes;
    const limitSeconds = isLarge ? LIMIT.seconds * share : Infinity;
    const limit = isLarge ? `${limitSeconds.toFixed(0)} s` : 'none';
    const each = (all) => `${(all / count / 1e3).toFixed(1)} kB`;
    const slowFound = outliers.filter(({ node }) => node === `n${slow}`).length;
    console.log(
      `${count} documents of ${command}, ${each(bytes.unpacked)} each (${each(bytes.packed)} packed), ${availableParallelism()} cores: ${seconds.toFixed(1)} s (limit ${limit}), ${(bytes.unpacked / seconds / 1e6).toFixed(1)} MB/s (limit of large ones ${(LIMIT_RATE / 1e6).toFixed(1)} MB/s), ${megabytes.toFixed(0)} MB (limit ${LIMIT.megabytes} MB).`,
    );
    console.log(
      `${coverage.cards} cards, ${tests} tests; the slow card has ${slowFound} outliers, ${outliers.length - slowFound} are of other cards.`,
    );
    const isFound = code === 0 && coverage.delivered === count && slowFound > 0;
    return isFound && seconds <= limitSeconds && megabytes <= LIMIT.megabytes;
  } finally {
    if (values.keep) console.log(folder);
    else rmSync(folder, { recursive: true, force: true });
  }
}

const rows = [
  ['run', Number(values.documents), runs],
  ['compare', Number(values.comparisons), comparisons],
];
for (const [command, count, makes] of rows) if (count > 0 && !(await row(command, count, makes))) process.exitCode = 1;
