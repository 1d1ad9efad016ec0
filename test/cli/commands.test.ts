import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { metrics } from '../../lib/metrics/registry.js';
import { command, emptyFolder, hasDriver, root, simulatedFolder } from './command.js';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

describe('list', () => {
  it('shows every metric', async () => {
    const { stdout, code } = await command(['list']);
    for (const { id } of metrics) expect(stdout).toMatch(new RegExp(`^${id} `, 'm'));
    expect(code).toBe(0);
  });

  it('gives JSON', async () => {
    const { stdout } = await command(['list', '--json']);
    const listed = JSON.parse(stdout) as { id: string }[];
    expect(listed.map(({ id }) => id)).toEqual(metrics.map(({ id }) => id));
    for (const metric of listed)
      expect(metric).toMatchObject({
        name: expect.any(String),
        unit: expect.any(String),
        direction: expect.stringMatching(/^(lower|higher|none)$/),
        question: expect.stringContaining('?'),
        needs: expect.any(Array),
      });
  });

  it('ends quietly when its reader leaves', async () => {
    const child = spawn(
      'bash',
      ['-c', '"$0" dist/cli/main.js list --json | true; echo "$PIPESTATUS"', process.execPath],
      {
        cwd: root,
        env: { PATH: process.env.PATH, HOME: emptyFolder() },
      },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk;
      });
    await new Promise((resolve) => child.once('close', resolve));
    expect(output).toBe('0\n');
  });
});

describe('doctor', () => {
  it.skipIf(hasDriver)('reports what is missing', async () => {
    const { stdout, stderr, code } = await command(['doctor']);
    expect(stdout).toMatch(/^error: No NVIDIA driver found .*run would measure the SIMULATED GPU\./m);
    expect(stdout).toMatch(/^GPU 0 +SIMULATED: /m);
    expect(stdout).toMatch(/Not ready: run would not measure a real GPU\.\n$/);
    expect({ stderr, code }).toEqual({ stderr: '', code: 1 });
  });

  it('gives JSON', async () => {
    const { stdout, code } = await command(['doctor', '--json'], { LD_LIBRARY_PATH: simulatedFolder });
    const diagnosis = JSON.parse(stdout);
    expect(diagnosis).toMatchObject({ kind: 'doctor', ready: false, tool: { version }, interceptors: [], layer: null });
    expect(diagnosis.gpu).toEqual([expect.objectContaining({ simulated: true })]);
    expect(diagnosis.findings).toContainEqual({
      severity: 'error',
      text: expect.stringMatching(/is the simulated driver/),
      fix: 'unset LD_LIBRARY_PATH',
    });
    expect(code).toBe(1);
  });

  it('explains a driver that fails', async () => {
    const environment = { LD_LIBRARY_PATH: simulatedFolder };
    const { stdout, code } = await command(['doctor'], environment, 'fail=cuInit:999@1');
    expect(stdout).toMatch(
      /^error: cuInit returned CUDA_ERROR_UNKNOWN \(999\)\. The kernel module .+\.\n {2}fix: sudo nvidia-modprobe/m,
    );
    expect(code).toBe(1);
  });

  it('shows what LD_PRELOAD could not load', async () => {
    const { stdout } = await command(['doctor'], { LD_PRELOAD: '/nonexistent/libvgpu.so' });
    expect(stdout).toMatch(/^Preload +LD_PRELOAD: \/nonexistent\/libvgpu\.so \(NOT LOADED\)$/m);
  });
});

describe('help', () => {
  it('names the default of every option of run', async () => {
    const { stdout, code } = await command(['run', '--help']);
    const options = stdout
      .slice(stdout.indexOf('Options:'), stdout.indexOf('\nExamples:'))
      .replace(/\n {20,}/g, ' ')
      .split('\n')
      .slice(1, -1);
    const wanting = options.filter((line) => !line.includes('(default:') && !line.includes('--help'));
    expect(options.length).toBeGreaterThan(12);
    expect(wanting).toEqual([]);
    expect(code).toBe(0);
  });

  it.each(['exec', 'load', 'monitor', 'report', 'study'])('of %s has one default for an option', async (name) => {
    const { stdout } = await command([name, '--help']);
    expect(stdout.replace(/\n {20,}/g, ' ').match(/\(default: [^)]*\) \(default: .*/g)).toBeNull();
  });

  it('prints the version', async () =>
    expect(await command(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' }));
  it('exits 2 without a command', async () => expect(await command([])).toMatchObject({ code: 2, stdout: '' }));
});

describe('the table of the metrics', () => {
  it('fits the screen, in plain ASCII if the locale has no UTF-8', async () => {
    const { code, stdout } = await command(['list'], { LC_ALL: 'C', COLUMNS: '80' });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[\0-\x7f]+$/);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect((await command(['list'])).stdout).toMatch(/–/);
  });

  it('is JSON in UTF-8 in any locale', async () => {
    const [c, utf8] = await Promise.all(['C', 'C.UTF-8'].map((LC_ALL) => command(['list', '--json'], { LC_ALL })));
    expect(c?.stdout).toBe(utf8?.stdout);
  });
});
