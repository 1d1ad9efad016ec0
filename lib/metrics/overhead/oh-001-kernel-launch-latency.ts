/** OH-001: isolated launches, from the call to its return, to the kernel's first instruction, to its end. */
import type { Check } from '../../document.js';
import type { LaunchBlock, LaunchCall } from '../../native/addon-types.js';
import { BenchError } from '../../native/errors.js';
import { median } from '../../stats/median.js';
import { type Collected, collect, concat } from '../collect.js';
import type { MeasureContext, MetricDefinition } from '../metric.js';
import { NS_PER_US, scaled, scaledSamples } from '../units.js';

const CALLS: readonly LaunchCall[] = ['cuLaunchKernel', 'cuLaunchKernelEx', 'cuGraphLaunch'];
const WARMUP = 200;
/** 2 000 launches with random gaps take about 0.3 s; `quick` stops at half of them. */
const CAP = { quick: 1_000, standard: 2_000, thorough: 2_000 } as const;
const BLOCK = 250;
const MAX_RESIDUAL_NS = 500;
const MAX_NEGATIVES = 0.001;

type Row = Collected<LaunchBlock>;

async function measureCall(context: MeasureContext, call: LaunchCall, index: number): Promise<Row> {
  const session = await context.session();
  const { iterations, resolution, tier, seed, warmup } = context.options;
  let first = true;
  return collect(
    { iterations, resolution, blockSize: BLOCK, cap: CAP[tier] },
    async (count, fraction) => {
      context.progress(call, (index + fraction) / CALLS.length);
      const block = { call, count, warmup: first ? (warmup ?? WARMUP) : 0, seed: seed + index };
      first = false;
      return session.launchBlock(block);
    },
    (block) => block.startNs,
  );
}

const inUs = (blocks: LaunchBlock[], of: (block: LaunchBlock) => Float64Array) =>
  scaled(median(concat(...blocks.map(of))), NS_PER_US);

function mappingOf(row: Row) {
  const worst = (of: (mapping: LaunchBlock['mapping']) => number) => Math.max(...row.blocks.map((b) => of(b.mapping)));
  return {
    residualNs: worst((m) => m.residualNs),
    bracketNs: worst((m) => m.bracketNs),
    driftPpm: median(row.blocks.map((b) => b.mapping.driftPpm)).value,
    tickNs: worst((m) => m.tickNs),
    negatives: row.samples.filter((ns) => ns < 0).length,
  };
}

function describe(call: LaunchCall, row: Row) {
  const submit = inUs(row.blocks, (b) => b.submitNs);
  const start = isMapped(row) ? scaled(row.estimate, NS_PER_US) : null;
  const roundTrip = inUs(row.blocks, (b) => b.roundTripNs);
  return {
    call,
    submitUs: submit.value,
    submitCi95: submit.ci95,
    startUs: start?.value ?? null,
    startCi95: start?.ci95 ?? null,
    ...(!start && { invalid: 'clock mapping' }),
    roundTripUs: roundTrip.value,
    roundTripCi95: roundTrip.ci95,
    count: row.samples.length,
    stop: row.stop,
    mapping: mappingOf(row),
  };
}

function mappingChecks(row: Row): Check[] {
  const { residualNs, tickNs, negatives } = mappingOf(row);
  const allowed = Math.max(MAX_RESIDUAL_NS, tickNs);
  return [
    {
      name: 'clock mapping residual',
      passed: residualNs <= allowed,
      detail: `${residualNs.toFixed(0)} ns, at most ${allowed} allowed`,
    },
    {
      name: 'no kernel starts before its call',
      passed: negatives < MAX_NEGATIVES * row.samples.length,
      detail: `${negatives} of ${row.samples.length}`,
    },
  ];
}

/** Without it a row has no start: submit and round trip, on the host's clock alone, stay. */
const isMapped = (row: Row): boolean => mappingChecks(row).every(({ passed }) => passed === true);

export const kernelLaunchLatency: MetricDefinition = {
  id: 'OH-001',
  name: 'Kernel Launch Latency',
  category: 'overhead',
  unit: 'us',
  direction: 'lower',
  question: 'What fixed tax does the layer add to every small kernel, that is, to low-batch decode?',
  estimator: 'median of call → kernel start',
  needs: [],
  functionName: 'measureKernelLaunch',
  where: 'process',
  seconds: { quick: 1, standard: 2, thorough: 2 },
  async measure(context) {
    const calls: Record<string, unknown>[] = [];
    let headline: Row | null = null;
    for (const [index, call] of CALLS.entries()) {
      try {
        const row = await measureCall(context, call, index);
        calls.push(describe(call, row));
        headline ??= row;
      } catch (error) {
        const missing = error instanceof BenchError && error.code === 'FUNCTION_MISSING';
        if (!missing || call === 'cuLaunchKernel') throw error;
        calls.push({ call, unsupported: error.message });
      }
    }
    if (!headline) throw new Error('unreachable: the first call is measured or throws');
    const checks = mappingChecks(headline);
    const start = scaled(headline.estimate, NS_PER_US);
    return {
      ...(!isMapped(headline) && { status: 'invalid' as const, reason: 'clock mapping' }),
      value: start.value,
      ci95: start.ci95,
      headline: scaledSamples(headline.samples, NS_PER_US),
      details: { calls },
      checks,
    };
  },
};
