/** The load of a server that already runs: the client, the metrics and the rows of `exec`, and the proofs that are possible. */
import { hostInfo } from '../../environment/host.js';
import type { LoadPlan } from '../../load/load-plan.js';
import type { LoadResult } from '../../load/load-result.js';
import { withoutNumber, type Measured } from '../../metrics/core/metric.js';
import { figuresOf } from '../../metrics/core/sample-stats.js';
import type { MetricResult, RunDocument } from '../../results/document.js';
import { identity } from '../../run/run-document.js';
import { blockMedians } from '../../stats/blocks.js';
import { serialMedian } from '../../stats/serial.js';
import { unverifiedLabel } from '../../systems/system-name.js';
import { type LoadKey, loadKeysOf, loadMetrics } from '../metrics/load-metrics.js';
import type { ProcessProof } from '../proof/proof-state.js';
import { type ClaimedServer, lookAtServer, NATIVE, serverProof } from '../proof/running-server.js';
import { loadRecord, publicUrl } from '../settings/secrets.js';
import { ServedLoad, type ServedRequests } from './served-load.js';

interface LoadedServer extends Omit<ClaimedServer, 'url'> {
  /** Beginning of the ids of the server's metrics. */
  name: string;
  plan: LoadPlan;
  /** The file with a line for each request; null keeps none. */
  requests: string | null;
  signal: AbortSignal;
}

const PROOF = 'processes of the server under the system';

/** Measures a server under load. Never rejects because of the server: what the server does is the result. */
export async function loadServer(server: LoadedServer, onRequest: () => void): Promise<RunDocument> {
  const { name, system, plan, requests, signal } = server;
  const startedAt = new Date();
  const began = performance.now();
  const cpu = process.cpuUsage();
  const claim = { ...server, url: plan.url };
  const before = await lookAtServer(claim);
  const load = new ServedLoad(plan, requests, onRequest);
  await load.run(signal, Number(process.hrtime.bigint()));
  const served = await load.finish();
  const proof = await serverProof(claim, [before, await lookAtServer(claim)]);
  const durationMs = performance.now() - began;
  const used = process.cpuUsage(cpu);
  const isUnproven = proof.state === 'unproven';
  const metrics = resultsOf(server, served, load.result, proof);
  return {
    ...identity(startedAt),
    durationMs,
    completed: load.result?.completed ?? !signal.aborted,
    host: hostInfo(),
    gpu: [],
    groundTruth: 'none',
    pidMapping: 'none',
    provenance: [],
    driver: { version: null, cudaVersion: null, libcuda: null, libnvidiaMl: null },
    system: {
      name: isUnproven ? unverifiedLabel(system) : system,
      kind: system === NATIVE ? NATIVE : 'custom',
      ...(isUnproven && { verified: false as const }),
      settings: {
        url: publicUrl(plan.url.href),
        ...(server.layer !== null && { layer: server.layer }),
        ...(server.mps && { mps: 'client' }),
        ...(server.container && { container: 'own root' }),
      },
      attestation: isUnproven ? [] : [{ proof: PROOF, passed: proof.state === 'proven', detail: proof.detail }],
    },
    plan: {
      tier: 'quick',
      metrics: metrics.map(({ id }) => id),
      rounds: 1,
      device: 0,
      path: 'runtime',
      seed: plan.arrivals.loop === 'open' ? plan.arrivals.seed : 0,
      options: { load: loadRecord(plan), name },
    },
    metrics,
    health: { before: [], after: [] },
    coordinatorCpuPercent: (used.user + used.system) / 10 / durationMs,
    warnings: [
      ...(isUnproven ? [`${system} is shown as ${unverifiedLabel(system)}: ${proof.detail}.`] : []),
      ...served.notes,
    ],
  };
}

function resultsOf(
  { name, plan }: LoadedServer,
  { readings, row, notes }: ServedRequests,
  result: LoadResult | null,
  proof: ProcessProof,
): MetricResult[] {
  return loadKeysOf({ load: plan }).map((key, index): MetricResult => {
    const { name: title, unit, direction, delta } = loadMetrics[key];
    const isFirst = index === 0;
    const details = {
      delta,
      ...(isFirst && { runs: [{ warmup: false, proof: proof.state, load: row }], ...(notes.length > 0 && { notes }) }),
    };
    const measured = measuredOf(key, readings[key], result, details, proof);
    const { headline } = measured;
    return {
      id: `${name}/${key}`,
      name: title,
      category: 'workload',
      unit,
      direction,
      estimator: 'of all requests',
      ...figuresOf(measured),
      ciScope: 'within-process',
      processes: 1,
      ...(headline && { blocks: blockMedians(headline) }),
      details,
      checks: measured.checks,
    };
  });
}

function measuredOf(
  key: LoadKey,
  reading: ServedRequests['readings'][LoadKey],
  result: LoadResult | null,
  details: Measured['details'],
  { state, detail }: ProcessProof,
): Measured {
  if (state === 'outside') return withoutNumber('invalid', `layer not active: ${detail}`, details);
  if ('missing' in reading) return withoutNumber(reading.status ?? 'failed', reading.missing, details);
  const { value } = reading;
  const { samples: samplesOf, noInterval } = loadMetrics[key];
  const samples = (result && samplesOf?.(result)) ?? null;
  const common = { value, details, checks: [], ci95: null, headline: samples && Float64Array.from(samples) };
  if (noInterval !== undefined) return { ...common, noInterval };
  return { ...common, ci95: samples && serialMedian(samples).ci95 };
}
