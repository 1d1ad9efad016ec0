// Runs the accuracy tests. A machine that takes the processor away in the wrong moment fails one of some hundreds, so
// the files of failed tests run again, alone and up to twice, with what they measure before their tests. What fails each
// time fails, and so does more than one test in a hundred at first: that is no machine's doing.
// Usage: node scripts/accuracy.js [argument of vitest …]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const MOST_AGAIN = 2;
const MOST_FAILED = 0.01;

const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const folder = mkdtempSync(join(tmpdir(), 'gvb-accuracy-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Runs vitest; the files with failed tests, and the numbers of tests. Null if it ended without a report. */
function run(time, args) {
  const report = join(folder, `${time}.json`);
  const { status, error, signal } = spawnSync(
    process.execPath,
    [
      vitest,
      'run',
      '--project=accuracy*',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...args,
    ],
    { cwd: root, stdio: 'inherit' },
  );
  if (error) throw error;
  if (signal !== null) throw new Error(`vitest was ended by ${signal}.`);
  if (status === 0) return { files: [], failed: [], total: 0 };
  const { testResults, numTotalTests } = JSON.parse(readFileSync(report, 'utf8'));
  const files = testResults.filter((file) => file.status === 'failed');
  const failed = files.flatMap(({ assertionResults }) =>
    assertionResults.filter((test) => test.status === 'failed').map((test) => test.fullName),
  );
  return { files: files.map(({ name }) => relative(root, name)), failed, total: numTotalTests };
}

const first = run(0, process.argv.slice(2));
let last = first;
const most = Math.max(1, Math.ceil(MOST_FAILED * first.total));
if (first.files.length > 0 && first.failed.length <= most)
  for (let time = 1; time <= MOST_AGAIN && last.files.length > 0; time++) {
    console.log(`\nAgain, time ${time} of at most ${MOST_AGAIN}: ${last.files.join(', ')}`);
    last = run(time, last.files);
  }
if (first.files.length > 0)
  console.log(
    `\nFailed at first: ${first.failed.length} of ${first.total} tests (at most ${most} may):\n${first.failed.map((name) => `  ${name}\n`).join('')}` +
      (last.files.length === 0
        ? 'They passed when they were run again alone.'
        : `Failed at last: ${last.files.join(', ')}`),
  );
if (last.files.length > 0) process.exitCode = 1;
