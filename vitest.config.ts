import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { TEST_MS, WAIT_MS } from './test/limits.js';

const common = {
  testTimeout: TEST_MS,
  hookTimeout: TEST_MS,
  expect: { poll: { timeout: WAIT_MS } },
  setupFiles: ['test/cleaning.ts'],
  // Details of fresh results are checked in tests (lib/metrics/core/checked-details.ts). In other locales reports are plain ASCII, and COLUMNS sets their width. Reading certificates takes 30 ms in every
  // process.
  env: { LC_ALL: 'C.UTF-8', COLUMNS: '', NODE_EXTRA_CA_CERTS: '', GVB_CHECK_DETAILS: '1' },
};
/**
 * More workers than processors, because these tests wait for other processes. Those use all of the processors' time: with more at once
 * each takes longer, the whole does not become shorter, and what a test waits for comes late.
 */
const parallel = { ...common, maxWorkers: Math.min(6, Math.ceil(1.5 * availableParallelism())), maxConcurrency: 2 };

/** Accuracy tests run after all others and one per processor, because they compare times. */
const accuracy = {
  ...common,
  // Some measure everything that there is.
  testTimeout: 3 * TEST_MS,
  sequence: { groupOrder: 1 },
  maxWorkers: Math.min(4, availableParallelism()),
};

/** Files that load the driver or NVML with their own settings, which a process can do only once. */
const OWN_PROCESS = [
  'fragmentation',
  'ground-truth',
  'llm-005',
  'llm-007',
  'memory-coverage',
  'memory-limit',
  'memory-reports',
  'mig',
  'monitor',
  'soft-limits',
  'throughput',
].map((name) => `test/truth/pairs/${name}.test.ts`);

/**
 * Tests that take 20 s or more, which `npm run test:long` runs, so that `npm test` takes less than five minutes. The
 * longest first: Vitest itself only knows the durations of earlier runs, and nothing should wait for them at the end.
 */
const LONG = [
  'cli/exec',
  'cli/pods',
  'native/swap-scenes',
  'cli/examples',
  'cli/mig',
  'cli/study',
  'cli/container-checkpoint',
  'native/swap',
  'cli/mps',
  'cli/mps-layer',
  'cli/cards',
  'unit/recorded-agree',
  'native/hidden-interception',
  'cli/timeout',
  'cli/exec-checkpoint',
  'native/attested-processes',
  'cli/fleet-kubernetes',
  'cli/killed-processes',
  'native/given-up-rounds',
  'cli/profile',
  'cli/container-podman',
  'cli/compare-bad-input',
  'native/executor',
  'cli/container-system',
  'cli/same-documents',
  'native/undone-load',
  'native/library',
  'package/adding-parts',
  'cli/monitor',
  'cli/gate',
  'native/undone-work',
  'cli/green-context',
  'cli/interruption',
  'cli/processes',
  'native/compatibility',
  'package/code-examples',
  'cli/fleet-node',
  'cli/card-identity',
  'native/monitoring',
  'cli/pods-killed',
  'native/clock',
  'cli/report',
  'cli/checkpoint',
  'cli/detect',
  'native/survival',
  'cli/functions',
  'cli/fleet-slurm',
  'native/starts',
  'cli/reproduction',
  'cli/load',
  'cli/preload',
  'cli/load-proofs',
  'cli/nvshare',
  'cli/layer',
  'native/checkpoint-guard',
  'cli/placement',
  'native/exec-scenes',
  'package/types',
  'cli/exec-load',
  'cli/health',
  'native/llm-memory',
  'cli/exec-scenes',
  'cli/report-joined',
  'native/leaving',
].map((name) => `test/${name}.test.ts`);

/** The longest of the other tests, which start first too. */
const FIRST = [
  'cli/every-card',
  'truth/starts/run',
  'truth/pairs/compare',
  'truth/cards',
  'truth/functions',
  'truth/impossible-readings',
  'truth/checkpoint/checkpoint',
  'truth/pairs/taken-ahead',
  'truth/pairs/nccl-collectives',
  'cli/compare',
].map((name) => `test/${name}.test.ts`);

const ORDER = [...LONG, ...FIRST];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const index = ORDER.findIndex((name) => moduleId.endsWith(`/${name}`));
      return index < 0 ? ORDER.length : index;
    };
    return [...(await super.sort(files))].sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Compiles dist/ once: tests of workers and of the command line run what is shipped.
    globalSetup: 'test/build.ts',
    projects: [
      {
        test: {
          ...parallel,
          name: 'behaviour',
          isolate: false,
          include: ['test/{cli,native,package,workers}/**/*.test.ts'],
          exclude: LONG,
        },
      },
      { test: { ...parallel, name: 'long', isolate: false, include: LONG } },
      // Run by npm run test:browser, which needs Chromium.
      { test: { ...parallel, name: 'browser', include: ['test/browser/**/*.test.ts'] } },
      // Run by npm run test:slurm, which needs Slurm and root: nodes of one cluster at a time keep the processors busy.
      { test: { ...parallel, name: 'slurm', include: ['test/slurm/**/*.test.ts'], maxWorkers: 1, isolate: false } },
      // These tests share no state, so they need no separate processes.
      { test: { ...parallel, name: 'unit', include: ['test/unit/**/*.test.ts'], exclude: LONG, isolate: false } },
      {
        test: {
          ...accuracy,
          name: 'accuracy-parallel',
          // The files share processes, because starting one takes a second.
          isolate: false,
          include: ['test/truth/{checkpoint,starts,pairs}/*.test.ts'],
          exclude: OWN_PROCESS,
        },
      },
      { test: { ...accuracy, name: 'accuracy-own-process', include: OWN_PROCESS } },
      {
        test: {
          ...accuracy,
          name: 'accuracy',
          isolate: false,
          include: ['test/truth/{,bandwidth/,cache/,error-recovery/,isolation/,llm/,scheduling/}*.test.ts'],
          // After the others: each has several tenants.
          sequence: { groupOrder: 2 },
          // Limit for tests that a file declares as concurrent.
          maxConcurrency: 2,
        },
      },
    ],
  },
});
