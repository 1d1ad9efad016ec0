/** `gpu-virt-bench init [DIR]` */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { packageRoot } from '../../package-root.js';
import { exitCodes } from '../options/exit-codes.js';
import { makeDirectory, writeStdout, writeWithoutLinks } from '../files/output.js';

/** The files to write, from the example that the documentation explains. */
const files = [
  { target: 'thresholds.yaml', example: 'thresholds.yaml' },
  { target: '.github/workflows/gpu-virt-bench.yml', example: 'github-actions.yml' },
] as const;

/** Writes all files or none: a directory that already has one of them is refused. */
export async function init(directory = '.'): Promise<number> {
  const targets = files.map(({ target, example }) => ({ path: join(directory, target), example }));
  for (const { path } of targets)
    if (await stat(path).catch(() => null))
      throw new UsageError(
        `${quoted(path)} exists, and init never overwrites a file: move it, or name another directory.`,
      );
  for (const { path } of targets) await makeDirectory(dirname(path), 'DIR');
  for (const { path, example } of targets)
    await writeWithoutLinks(path, await readFile(join(packageRoot, 'examples', example), 'utf8'));
  const [thresholds, workflow] = targets.map(({ path }) => path);
  await writeStdout(
    `Wrote ${thresholds} and ${workflow}.\n` +
      `Next: edit the limits in the first file and the systems in the second, run compare, store the result with baseline save main, and commit all three files.\n`,
  );
  return exitCodes.ok;
}
