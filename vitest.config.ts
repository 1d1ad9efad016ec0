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
 * The longest files, which start first so that nothing waits for them at the end. Vitest itself only knows the
 * durations of earlier runs.
 */
const LONG = [
  'truth/starts/run',
  'truth/pairs/compare',
  'truth/cards',
  'truth/functions',
  'truth/impossible-readings',
  'truth/checkpoint/checkpoint',
  'truth/pairs/taken-ahead',
  'truth/pairs/nccl-collectives',
  'cli/pods',
  'cli/cards',
  'native/swap-scenes',
  'cli/examples',
  'cli/exec',
  'native/swap',
  'cli/exec-checkpoint',
  'cli/study',
  'cli/compare',
  'package/adding-parts',
  'package/code-examples',
  'native/hidden-interception',
  'native/given-up-rounds',
  'cli/timeout',
  'cli/killed-processes',
  'cli/mps',
  'native/attested-processes',
  'unit/recorded-agree',
  'cli/processes',
  'cli/gate',
  'cli/interruption',
  'cli/compare-bad-input',
  'cli/profile',
  'native/undone-load',
  'native/monitoring',
  'native/checkpoint-guard',
  'cli/checkpoint',
  'native/exec-scenes',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const index = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return index < 0 ? LONG.length : index;
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
        },
      },
      // Run by npm run test:browser, which needs Chromium.
      { test: { ...parallel, name: 'browser', include: ['test/browser/**/*.test.ts'] } },
      // Run by npm run test:slurm, which needs Slurm and root: nodes of one cluster at a time keep the processors busy.
      { test: { ...parallel, name: 'slurm', include: ['test/slurm/**/*.test.ts'], maxWorkers: 1, isolate: false } },
      // These tests share no state, so they need no separate processes.
      { test: { ...parallel, name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false } },
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
