import { defineConfig } from 'vitest/config';

const testTimeout = 60_000;
/** Of a truth: a host may be disturbed for as long as it takes to measure it once. */
const retry = 2;
/** More than processors: most of these tests wait for other processes. */
const sideBySide = { testTimeout, maxWorkers: 5 };

export default defineConfig({
  test: {
    // Compiles dist/ once: tests of workers and of the command line run what is shipped.
    globalSetup: 'test/build.ts',
    projects: [
      {
        test: {
          ...sideBySide,
          name: 'behaviour',
          include: ['test/{cli,native,package,workers}/**/*.test.ts'],
          // As Node loads it, not as the tests' own sources are.
          server: { deps: { external: [/\/dist\//] } },
        },
      },
      // Asked for by npm run test:browser, which needs Chromium.
      { test: { ...sideBySide, name: 'browser', include: ['test/browser/**/*.test.ts'] } },
      // They share no state that a process of its own would have to part.
      { test: { ...sideBySide, name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false } },
      {
        test: {
          testTimeout,
          retry,
          name: 'two truths',
          include: ['test/truth/{starts,pairs}/*.test.ts'],
          sequence: { groupOrder: 1 },
          maxWorkers: 2,
        },
      },
      {
        test: {
          testTimeout,
          retry,
          name: 'truth',
          include: ['test/truth/*.test.ts'],
          // One at a time: two of them at once would disturb each other.
          sequence: { groupOrder: 2 },
          maxWorkers: 1,
          // Of tests that a file itself calls concurrent.
          maxConcurrency: 2,
        },
      },
    ],
  },
});
