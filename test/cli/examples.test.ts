/** The examples in the documentation work as written. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../lib/systems/input/config.js';
import { interposerLibrary } from '../../lib/native/load.js';
import { closedPort } from '../ports.js';
import { undisturbed } from '../undisturbed.js';
import { commandIn, emptyFolder, parseComparison, root } from './command.js';

const page = readFileSync(join(root, 'docs/systems.md'), 'utf8');
const example = join(root, 'examples/new-layer.yaml');
const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, block = '']) => block);

async function compared(config: string) {
  const folder = emptyFolder();
  const args = ['compare', 'IS-001', '--simulate', '--rounds', '1', '--tier', 'quick', '--config', config];
  const { code } = await commandIn(folder, [...args, '--output', 'out']);
  return { code, document: parseComparison(readFileSync(join(folder, 'out/summary.json'), 'utf8')) };
}

describe('docs/systems.md', () => {
  it('shows the example exactly as in the file', () => expect(blocks).toContain(readFileSync(example, 'utf8')));

  it.each(blocks.map((block, index) => [index + 1, block] as const))('has valid YAML in block %i', (_, block) => {
    const surroundings = { caller: {}, folder: join(root, 'examples'), allowMissing: true };
    expect(parseConfig(block, 'systems.yaml', surroundings).systems.length).toBeGreaterThan(1);
  });

  it('has an example whose proofs pass and whose violation is found', async () => {
    const { code, document } = await compared(example);
    expect(code).toBe(4);
    const [round] = document.systems[1] ?? [];
    expect(round?.system.name).toBe('newlayer');
    expect(round?.system.attestation.filter(({ passed }) => !passed)).toEqual([]);
    expect(round?.system.attestation.map(({ proof }) => proof)).toEqual(
      expect.arrayContaining(['total memory from 4096 MiB to 4096 MiB', 'allocation of 5120 MiB is refused']),
    );
    expect(document.violations).toContainEqual(
      expect.objectContaining({
        system: 'newlayer',
        metric: 'IS-001',
        detail: expect.stringMatching(/^cuMemAlloc_v2: 4 GiB granted/),
      }),
    );
  });

  it('has an example without violation once contexts count', async () => {
    const { code, document } = await compared(changed((text) => text.replace('=+250ns', '=+250ns,context=500MiB')));
    expect({ code, violations: document.violations }).toEqual({ code: 0, violations: [] });
  });

  it('has an example that publishes nothing without its layer', async () => {
    const { code, document } = await compared(changed((text) => text.replace(/^ *LD_PRELOAD.*\n/m, '')));
    expect(code).toBe(5);
    for (const { value, status } of document.systems[1]?.[0]?.metrics ?? [])
      expect({ value, status }).toEqual({ value: null, status: 'invalid' });
  });
});

/** Writes a changed example to another folder, so that the library is named by its absolute path. */
function changed(change: (text: string) => string): string {
  const file = join(emptyFolder(), 'changed.yaml');
  const text = readFileSync(example, 'utf8');
  expect(change(text)).not.toBe(text);
  writeFileSync(file, change(text).replace(/LD_PRELOAD: .*/, `LD_PRELOAD: ${interposerLibrary() ?? ''}`));
  return file;
}

// These run side by side, because their servers and programs wait for most of their time.
describe.concurrent('examples/served-load.yaml', () => {
  it('runs with its server, from another folder', async () => {
    const port = await closedPort();
    const text = readFileSync(join(root, 'examples/served-load.yaml'), 'utf8');
    // A slower server: a client that a busy machine makes late by some milliseconds is late by little.
    const few = text
      .replace("--first-token-ms, '40', --inter-token-ms, '8'", "--first-token-ms, '800', --inter-token-ms, '80'")
      .replaceAll('18080', `${port}`)
      .replace('openai-server/server.mjs', join(root, 'examples/openai-server/server.mjs'))
      .replace(/requests: 300/, 'requests: 2')
      .replace(/iterations: 3/, 'iterations: 1');
    const folder = emptyFolder();
    writeFileSync(join(folder, 'served.yaml'), few);
    const { code, results } = await undisturbed(
      async () => {
        const output = emptyFolder();
        const args = [
          'exec',
          '--simulate',
          '--rounds',
          '1',
          '--config',
          'served.yaml',
          '--output',
          join(output, 'out'),
        ];
        const done = await commandIn(folder, args);
        const { systems } = parseComparison(readFileSync(join(output, 'out/summary.json'), 'utf8'));
        return { code: done.code, results: new Map(systems[0]?.[0]?.metrics.map((result) => [result.id, result])) };
      },
      ({ results: found }) => [...found.values()],
    );
    expect(code).toBe(0);
    for (const name of ['server@c=1', 'server@c=8']) {
      expect(results.get(`${name}/errors`)?.value).toBe(0);
      // The server waits 0.8 s before its first token and 80 ms before each of 15 others. Node's timers may be 1 ms early.
      expect(results.get(`${name}/ttft`)?.value).toBeGreaterThan(799);
      expect(results.get(`${name}/latency`)?.value).toBeGreaterThan(799 + 15 * 80);
      expect(results.get(`${name}/ttft-p99`)).toMatchObject({ status: 'unsupported', value: null });
    }
  });
});

describe.concurrent('examples/checkpoint.yaml', () => {
  it('runs with its program', async () => {
    const text = readFileSync(join(root, 'examples/checkpoint.yaml'), 'utf8')
      .replace('programs/gpu-steps.mjs', join(root, 'examples/programs/gpu-steps.mjs'))
      .replace(/iterations: \d+/, 'iterations: 1')
      .replace(/hold: \d+/, 'hold: 0');
    const [folder, output] = [emptyFolder(), join(emptyFolder(), 'out')];
    writeFileSync(join(folder, 'checkpoint.yaml'), text);
    const args = ['exec', '--simulate', '--rounds', '1', '--config', 'checkpoint.yaml', '--output', output];
    const { code } = await commandIn(folder, args);
    expect(code).toBe(0);
    const { systems } = parseComparison(readFileSync(join(output, 'summary.json'), 'utf8'));
    const results = new Map(systems[0]?.[0]?.metrics.map((result) => [result.id, result]));
    for (const key of ['checkpoint-time', 'restore-time', 'restore-answer', 'checkpoint-freed'])
      expect(results.get(`steps/${key}`)).toMatchObject({ status: 'ok' });
  });
});

describe.concurrent('examples/swap-pair.yaml', () => {
  it('runs with its servers, which take turns', async () => {
    const ports = [await closedPort(), await closedPort()];
    const text = readFileSync(join(root, 'examples/swap-pair.yaml'), 'utf8')
      .replaceAll('programs/gpu-server.mjs', join(root, 'examples/programs/gpu-server.mjs'))
      .replaceAll('18081', `${ports[0]}`)
      .replaceAll('18082', `${ports[1]}`)
      // Each takes half a second, in which its server loses the card.
      .replaceAll(/requests: \d+/g, 'requests: 4')
      .replace('slice: 1s', 'slice: 300ms')
      .replace('  - native\n', '');
    const [folder, output] = [emptyFolder(), join(emptyFolder(), 'out')];
    writeFileSync(join(folder, 'swap-pair.yaml'), text);
    const args = ['exec', '--simulate', '--rounds', '1', '--config', 'swap-pair.yaml', '--output', output];
    await commandIn(folder, args);
    const { systems } = parseComparison(readFileSync(join(output, 'summary.json'), 'utf8'));
    const results = new Map(systems[0]?.[0]?.metrics.map((result) => [result.id, result]));
    for (const key of ['switches', 'switch-time', 'switch-answer', 'switch-memory'])
      expect(results.get(`pair/${key}`)).toMatchObject({ status: 'ok' });
  });
});

describe('examples/containers.yaml', () => {
  it('is for exec and for compare, which says that it runs no workloads', async () => {
    const common = ['--simulate', '--dry-run', '--allow-missing', '--config', join(root, 'examples/containers.yaml')];
    const exec = await commandIn(emptyFolder(), ['exec', ...common]);
    expect(exec).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/podman-hook\) .* warm-start .*, cold-start .*/),
    });
    const compare = await commandIn(emptyFolder(), ['compare', 'START-006', '--tier', 'thorough', ...common]);
    expect(compare).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Plan: 3 systems \(native, podman-cdi, podman-hook\)/),
      stderr: expect.stringMatching(/containers\.yaml has workloads, which only exec runs/),
    });
  });
});
