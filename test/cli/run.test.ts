import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { metrics } from '../../lib/metrics/registry.js';
import { command, emptyFolder, hasDriver, parseDocument, simulatedFolder, start } from './command.js';

const few = ['run', 'OH-002', '--simulate', '--iterations', '50'];

describe('run on the simulated GPU', () => {
  it('ends with a table under a watermark', async () => {
    const { code, stdout, stderr } = await command(few);
    expect(stdout).toMatch(/^SIMULATED GPU/);
    expect(stdout).toMatch(/^OH-002 .* us .* 50 +ok$/m);
    expect(stderr).toMatch(/^OH-002 [^\n]+: [\d.]+ us$/m);
    expect(code).toBe(0);
  });

  it.skipIf(hasDriver)('warns that it simulates when there is no driver', async () => {
    const { code, stderr } = await command(['run', 'OH-002', '--iterations', '50']);
    expect(stderr).toMatch(
      /^No NVIDIA driver found \(dlopen libcuda\.so\.1: .*\): measuring the SIMULATED GPU\. These numbers say nothing about real hardware\.$/m,
    );
    expect(code).toBe(0);
  });

  it('writes a complete document and leaves no other file', async () => {
    const folder = emptyFolder();
    const { code } = await command([...few, '--samples', '--json', join(folder, 'x.json')]);
    expect(code).toBe(0);
    expect(readdirSync(folder)).toEqual(['x.json']);
    const { metrics } = parseDocument(readFileSync(join(folder, 'x.json'), 'utf8'));
    expect(metrics[0]?.samples).toHaveLength(50);
  });

  it('keeps its directory even if the reader of standard output has closed it', async () => {
    const output = join(emptyFolder(), 'out');
    const run = start([...few, '--samples', '--output', output, '--json', '-']);
    run.child.stdout?.destroy();
    await run.done;
    expect(readdirSync(output).sort()).toEqual(['logs', 'raw', 'report.html', 'report.md', 'summary.json']);
    const read = (file: string) => parseDocument(readFileSync(join(output, file), 'utf8')).metrics[0];
    expect(read('raw/round-0001-system-1.json')?.samples).toHaveLength(50);
    expect(read('summary.json')).not.toHaveProperty('samples');
  });

  it('includes raw samples only on request', async () => {
    const { stdout } = await command([...few, '--json', '-']);
    expect(parseDocument(stdout).metrics[0]).not.toHaveProperty('samples');
  });

  it('writes no escape sequences if stderr is no terminal', async () => {
    const { stdout, stderr } = await command(few);
    expect(stdout + stderr).not.toContain('\u001b');
  });

  it('measures in the same order with the same seed', async () => {
    const plan = async (seed: string) => (await command(['run', '--dry-run', '--seed', seed])).stdout;
    expect(await plan('1')).toBe(await plan('1'));
    expect(new Set(await Promise.all(['1', '2', '3', '4'].map(plan))).size).toBeGreaterThan(1);
  });

  it('measures nothing in a dry run', async () => {
    const { code, stdout, stderr } = await command(['run', 'overhead', '--dry-run', '--tier', 'thorough']);
    const overhead = metrics.filter(({ category }) => category === 'overhead').length;
    const ids = `(OH-\\d{3}(, )?){${overhead}}`;
    expect(stdout).toMatch(new RegExp(`^Plan: ${ids} \\(tier thorough, seed \\d+\\), about \\d+ (s|min)\nDevice 0`));
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  it('uses the first entry of CUDA_VISIBLE_DEVICES, unless --device is given', async () => {
    const device = async (...args: string[]) => {
      const { stdout } = await command([...few, '--json', '-', ...args], { CUDA_VISIBLE_DEVICES: '1,0' }, 'devices=2');
      return parseDocument(stdout).plan.device;
    };
    expect(await device()).toBe(1);
    expect(await device('--device', '0')).toBe(0);
  });
});

describe('run with a driver', () => {
  // A driver as far as dlopen can tell.
  const environment = { LD_LIBRARY_PATH: simulatedFolder };

  it('recognises the simulation by the loaded library', async () => {
    const { stdout, stderr, code } = await command(['run', 'OH-002', '--iterations', '50', '--json', '-'], environment);
    expect(parseDocument(stdout).gpu[0]?.simulated).toBe(true);
    expect(stderr).toMatch(/^SIMULATED GPU/);
    expect(stderr).not.toContain('GVB_SIM is ignored');
    expect(code).toBe(0);
  });

  it('refuses the simulation if a GPU is required', async () => {
    const { stdout, stderr, code } = await command(['run', '--require-gpu'], environment);
    expect(stderr).toMatch(/^error: .*is the simulated driver.*\n$/);
    expect({ stdout, code }).toEqual({ stdout: '', code: 1 });
  });
});
