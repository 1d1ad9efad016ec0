/** Runs the commands that a report prints for its reader. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import { commandIn, emptyFolder, parseComparison, start } from './command.js';

const layer = interposerLibrary() ?? '/the-interposer-is-not-built';

/** Proofs, a list, and a text with characters that are special in YAML and shells: --system cannot express it. */
const config = `
systems:
  - native
  - name: mine
    kind: custom
    env: { LD_PRELOAD: ${layer}, GVB_INTERPOSE: cuLaunchKernel=+0ns, NOTE: "a: 'b', #c $d" }
    verify:
      - symbolOwner: { symbol: cuLaunchKernel, matches: 'libgvb-interpose\\.so$' }
`;

/** The arguments of the commands under Reproduction. */
function printed(markdown: string): string[][] {
  const [, block = ''] = /## Reproduction\n[^]*?```\w*\n([^]*?)\n```/.exec(markdown) ?? [];
  return block.split('\n').map((line) => argumentsOf(line));
}

/** Splits a command at spaces: its arguments need no quoting here. */
const argumentsOf = (line: string): string[] => /npx gpu-virt-bench (\S.*)$/.exec(line)?.[1]?.split(' ') ?? [];

async function compared(folder: string, ...more: string[]) {
  writeFileSync(join(folder, 'mine.yaml'), config);
  const what = ['compare', 'OH-002', '--simulate', '--tier', 'quick', '--rounds', '1', '--iterations', '20'];
  return commandIn(folder, [...what, '--seed', '7', '--config', 'mine.yaml', ...more]);
}

const report = (folder: string, directory: string) => commandIn(folder, ['report', directory]);

describe('the command of a report', () => {
  it('is accepted and plans the same comparison, proofs included', async () => {
    const folder = emptyFolder();
    expect((await compared(folder, '--output', 'out')).code).toBe(0);
    const [argv = [], ...others] = printed(readFileSync(join(folder, 'out/report.md'), 'utf8'));
    expect(others).toEqual([]);
    expect(argv.join(' ')).toContain('--config out/systems.yaml');
    const again = await commandIn(folder, [...argv, '--dry-run']);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toBe((await compared(folder, '--dry-run')).stdout);
    expect((await commandIn(folder, [...argv, '--json', 'again.json'])).code).toBe(0);
    const proofs = (file: string) =>
      parseComparison(readFileSync(join(folder, file), 'utf8')).systems.map(([round]) =>
        round?.system.attestation.map(({ proof, passed }) => ({ proof, passed })),
      );
    expect(proofs('again.json')).toEqual(proofs('out/summary.json'));
    expect(proofs('again.json')[1]).toContainEqual({
      proof: 'owner of cuLaunchKernel matches libgvb-interpose\\.so$',
      passed: true,
    });
  });

  it("names the file in the directory's current place", async () => {
    const folder = emptyFolder();
    expect((await compared(folder, '--output', 'out')).code).toBe(0);
    renameSync(join(folder, 'out'), join(folder, 'moved'));
    const { stdout } = await report(folder, 'moved');
    const [argv = []] = printed(stdout);
    expect(argv.join(' ')).toContain('--config moved/systems.yaml');
    expect((await commandIn(folder, [...argv, '--dry-run'])).code).toBe(0);
  });

  it('is refused until its secrets are filled in', async () => {
    const folder = emptyFolder();
    const secret = ['--system', 'custom:name=secretive,env.API_KEY=1234'];
    expect((await compared(folder, ...secret, '--output', 'out')).code).toBe(0);
    const text = readFileSync(join(folder, 'out/systems.yaml'), 'utf8');
    expect(text).not.toContain('1234');
    const [argv = []] = printed(readFileSync(join(folder, 'out/report.md'), 'utf8'));
    const refused = await commandIn(folder, [...argv, '--dry-run']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/systems\.yaml:\d+:\d+: API_KEY of env of custom is \(not recorded\): .*Replace it/);
    writeFileSync(join(folder, 'out/systems.yaml'), text.replaceAll('(not recorded)', '1234'));
    expect((await commandIn(folder, [...argv, '--dry-run'])).code).toBe(0);
  });
});

it('prints the command that continues an interrupted comparison', async () => {
  const folder = emptyFolder();
  const systems = ['--system', 'native:name=a', '--system', 'native:name=b'];
  const args = ['compare', 'OH-002', '--simulate', '--tier', 'quick', '--rounds', '20', ...systems, '--output', 'out'];
  const run = start([...args, '--json', 'all.json'], {}, '', folder);
  await run.said('Round 1, ');
  run.child.kill('SIGINT');
  const { code, stderr } = await run.done;
  expect(code).toBe(130);
  const [, far, command = ''] =
    /^Interrupted: (\d+) of 40 rounds are finished\. Continue with: (.*)$/m.exec(stderr) ?? [];
  expect(Number(far)).toBeGreaterThan(0);
  expect(command).toBe('npx gpu-virt-bench compare --resume out --json all.json');
  expect(readFileSync(join(folder, 'out/report.md'), 'utf8')).toContain(
    'This continues it: npx gpu-virt-bench compare --resume out',
  );
  // `start` gives every process its own card, on which this comparison cannot continue, so this checks only the plan.
  const again = await commandIn(folder, [...argumentsOf(command).slice(0, 3), '--dry-run']);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('2 systems (a, b) × 20 rounds') });
});
