/** Time and memory of a document of 56 metrics, 4 systems and 10 rounds with a thousand raw samples each. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { jsonReport } from '../../lib/report/json.js';
import { command, emptyFolder } from '../cli/command.js';
import { large } from '../unit/report-fixtures.js';

const folder = emptyFolder();
const file = join(folder, 'large.json');
writeFileSync(file, jsonReport(large(1_000)).join(''));

// What a process used at most can only be asked from within.
const probe = join(folder, 'probe.mjs');
writeFileSync(
  probe,
  "process.on('exit', () => console.error(`USED ${process.uptime()} s ${process.resourceUsage().maxRSS / 1024} MiB`));\n",
);

// The others cost what Markdown does; JSON holds the samples once more.
it.each(['html', 'markdown', 'json'])('is rendered in less than 3 s and 500 MB: %s', async (format) => {
  const args = ['report', file, `--${format}`, join(emptyFolder(), 'out')];
  const { code, stderr } = await command(args, { NODE_OPTIONS: `--import=${pathToFileURL(probe).href}` });
  expect(code).toBe(0);
  const [, seconds, mebibytes] = /USED ([\d.]+) s ([\d.]+) MiB/.exec(stderr) ?? [];
  expect(Number(seconds)).toBeLessThan(3);
  expect((Number(mebibytes) * 2 ** 20) / 1e6).toBeLessThan(500);
});
