import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { TEST_MS, WAIT_MS } from './test/limits.js';

const common = {
  testTimeout: TEST_MS,
  hookTimeout: TEST_MS,
  expect: { poll: { timeout: WAIT_MS } },
  setupFiles: ['test/cleaning.ts'],
  // Reports are plain ASCII in other locales, and as wide as COLUMNS.
  env: { LC_ALL: 'C.UTF-8', COLUMNS: '' },
};
/** More than processors: most of these tests wait for other processes. */
const parallel = { ...common, maxWorkers: Math.min(6, 3 * availableParallelism()) };

export default defineConfig({
  test: {
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
      // They share no state that a process of its own would have to separate.
      { test: { ...parallel, name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false } },
      {
        test: {
          ...common,
          name: 'accuracy-parallel',
          include: ['test/truth/{starts,pairs}/*.test.ts'],
          sequence: { groupOrder: 1 },
          maxWorkers: Math.min(4, 2 * availableParallelism()),
        },
      },
      {
        test: {
          ...common,
          name: 'accuracy',
          // One process for all: starting one takes a second, in which nothing else runs.
          isolate: false,
          include: ['test/truth/{,isolation/,llm/}*.test.ts'],
          // One at a time: these take all processors themselves.
          sequence: { groupOrder: 2 },
          maxWorkers: 1,
          // Of tests that a file itself calls concurrent.
          maxConcurrency: 2,
        },
      },
    ],
  },
});
