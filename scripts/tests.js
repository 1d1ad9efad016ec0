// Runs the tests of some projects of vitest.config.ts. A machine that takes the processor away in the wrong moment fails
// one of some thousands, so the files of failed tests run again, alone and up to twice, with what they measure before
// their tests. What fails each time fails, and so do more than a few tests at first: that is no machine's doing.
// Usage: node scripts/tests.js PROJECT[,PROJECT …] [argument of vitest …]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const MOST_AGAIN = 2;
const MOST_FAILED = 5;

const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const [projects = '', ...given] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'gvb-tests-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Runs vitest: whether it passed, the files with failed tests, and the number of tests. */
function run(time, args) {
  const report = join(folder, `${time}.json`);
  const { status, error, signal } = spawnSync(
    process.execPath,
    [
      vitest,
      'run',
      ...projects.split(',').map((project) => `--project=${project}`),
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...args,
    ],
    { cwd: root, stdio: 'inherit' },
  );
  if (error) throw error;
  if (signal !== null) throw new Error(`vitest was ended by ${signal}.`);
  if (status === 0) return { passed: true, files: [], failed: [] };
  const { testResults, numTotalTests } = JSON.parse(readFileSync(report, 'utf8'));
  const files = testResults.filter((file) => file.status === 'failed');
  const failed = files.flatMap(({ assertionResults }) =>
    assertionResults
      .filter((test) => test.status === 'failed')
      .map(({ fullName, failureMessages }) => `${fullName}\n    ${firstLine(failureMessages?.[0])}`),
  );
  return { passed: false, files: files.map(({ name }) => relative(root, name)), failed, total: numTotalTests };
}

const firstLine = (text = 'it says no more') => text.split('\n')[0].slice(0, 600);

const first = run(0, given);
let last = first;
// An error outside of every test, or no tests at all, leaves no file to run again.
for (let time = 1; time <= MOST_AGAIN && first.failed.length <= MOST_FAILED; time++) {
  if (last.passed || last.files.length === 0) break;
  console.log(`\nAgain, time ${time} of at most ${MOST_AGAIN}: ${last.files.join(', ')}`);
  last = run(time, last.files);
}
if (!first.passed) {
  console.log(`\nFailed at first: ${first.failed.length} of ${first.total} tests (at most ${MOST_FAILED} may)`);
  for (const name of first.failed) console.log(`  ${name}`);
  console.log(
    last.passed
      ? 'They passed when they were run again alone.'
      : `Failed at last: ${last.files.join(', ') || 'what is of no test'}`,
  );
}
if (!last.passed) process.exitCode = 1;
