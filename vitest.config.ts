import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Compiles dist/ once: tests of workers and of the command line run what is shipped.
    globalSetup: 'test/build.ts',
    // Truth tests measure time: two of them at once would disturb each other.
    fileParallelism: false,
    testTimeout: 60_000,
    include: ['test/**/*.test.ts'],
  },
});
