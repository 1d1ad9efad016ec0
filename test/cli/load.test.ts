/** `load` of servers that already run. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import type { RunDocument } from '../../lib/results/document.js';
import { closedPort } from '../ports.js';
import { ownRegion } from '../temporary.js';
import { undisturbed } from '../undisturbed.js';
import { httpServer } from '../unit/load/servers.js';
import { addonFile, cardIn, command, emptyFolder, parseDocument, root, simulatedFolder, start } from './command.js';

/** A server of this machine that holds a context on the simulated GPU. Its URL. */
async function servedUrl(environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const port = await closedPort();
  const child = spawn(process.execPath, [join(root, 'test/workers/fixtures/served.mjs'), `${port}`, 'paced'], {
    env: {
      PATH: process.env.PATH,
      ADDON: addonFile,
      DRIVER: simulatedFolder,
      GVB_SIM: cardIn(ownRegion('cli')),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(createInterface(child.stdout), 'line');
  return `http://127.0.0.1:${port}/v1/chat/completions`;
}

const chat = ['--api', 'chat', '--model', 'm', '--prompt', '{request}', '--warmup', '0', '--json', '-'];
const layer = interposerLibrary() as string;
const interposed = { LD_PRELOAD: layer, GVB_INTERPOSE: 'cuLaunchKernel=+1us' };

describe('load', () => {
  it('plans one request in the singular', async () => {
    const { stderr } = await command(['load', 'http://127.0.0.1:1/', '--requests', '1', '--warmup', '0']);
    expect(stderr).toMatch(/^Plan: 1 request to http:\/\/127\.0\.0\.1:1\/ \(api http\), 1 at a time/m);
  });

  it('has the metrics of exec, and the proof that native is native', async () => {
    const url = await servedUrl();
    let output = '';
    const measure = async (): Promise<RunDocument> => {
      output = join(emptyFolder(), 'out');
      const options = ['--requests', '2', '--concurrency', '2', '--under', 'native', '--output', output];
      const { code, stdout, stderr } = await command(['load', url, ...chat, ...options]);
      expect([0, 1]).toContain(code);
      expect(stderr).toContain(`Plan: 2 requests to ${url} (api chat), 2 at a time, after 0 for warm-up`);
      return parseDocument(stdout);
    };
    const document = await undisturbed(measure, ({ metrics }) => metrics);
    const found = Object.fromEntries(document.metrics.map(({ id, value }) => [id, value]));
    expect(found['server/errors']).toBe(0);
    // The server's pace.
    expect(found['server/ttft']).toBeGreaterThanOrEqual(1200);
    expect(found['server/latency']).toBeGreaterThanOrEqual(2100);
    const { system, gpu, warnings } = document;
    expect(system).toMatchObject({ name: 'native', attestation: [{ passed: true }] });
    expect(gpu).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/^the server gives no usage in 2 of 2 answers/)]);
    expect(document.metrics[0]?.details.runs).toMatchObject([
      { load: { requests: 2, succeeded: 2, ends: [{ reason: '[DONE] alone', count: 2 }] } },
    ]);
    const lines = readFileSync(join(output, 'logs/requests.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { error: unknown }).error)).toEqual([null, null]);
    expect(readFileSync(join(output, 'report.md'), 'utf8')).toContain('server/ttft');
  });

  it.each<[string, NodeJS.ProcessEnv, string[], string]>([
    ['native with a layer in it', interposed, ['--under', 'native'], 'exports what a GPU layer exports'],
    ['a layer that is not there', {}, ['--under', 'mine', '--layer', layer], 'used the driver without'],
  ])('exits with 5 and gives no number for %s', async (_, environment, options, why) => {
    const url = await servedUrl(environment);
    const { code, stdout } = await command(['load', url, ...chat, '--requests', '1', ...options]);
    expect(code).toBe(5);
    for (const { value, reason } of parseDocument(stdout).metrics) {
      expect(value).toBeNull();
      expect(reason).toMatch(new RegExp(`^layer not active: .*${why}`));
    }
  });

  it('proves a layer, and says where nothing can be proven', async () => {
    const options = ['--requests', '1', '--under', 'mine', '--layer', layer];
    const [proven, other] = await Promise.all([
      servedUrl(interposed).then((url) => command(['load', url, ...chat, ...options])),
      httpServer((_, response) => response.end('x')).then((url) =>
        command(['load', url, '--requests', '1', '--json', '-']),
      ),
    ]);
    expect(parseDocument(proven.stdout).system).toMatchObject({ name: 'mine', attestation: [{ passed: true }] });
    expect(parseDocument(other.stdout).system).toMatchObject({ name: 'running (unverified)', verified: false });
    expect(other.stderr).toMatch(
      /warning: running is shown as running \(unverified\): nothing is named that shows it in its/,
    );
  });

  it('exits with 1 where requests fail, with their share and the reason', async () => {
    const url = await httpServer((_, response) => response.writeHead(401).end('who are you'));
    const { code, stdout } = await command(['load', url, '--requests', '2', '--csv', '-']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/server\/errors.*,100,/);
    expect(stdout).toContain('2 of 2 requests failed: status 401: who are you');
  });

  it('exits with 130 and gives what there is when it is interrupted', async () => {
    let requests = 0;
    const url = await httpServer((_, response) => {
      if (++requests <= 2) response.end('x');
      else running.child.kill('SIGINT');
    });
    const running = start(['load', url, '--warmup', '0', '--json', '-']);
    const { code, stdout } = await running.done;
    expect(code).toBe(130);
    const document = parseDocument(stdout);
    expect(document.completed).toBe(false);
    expect(document.metrics[0]?.reason ?? '').toMatch(
      /^its load ended after 2 of 100 requests|^the client('s event loop was busy| was late)/,
    );
  });

  it('exits with 2 for options that are wrong, before it sends anything', async () => {
    let requests = 0;
    const url = await httpServer((_, response) => {
      requests++;
      response.end();
    });
    for (const options of [
      ['--requests', 'x'],
      ['--name', 'a/b'],
      ['--output', '/proc/none'],
      ['--rate-per-second', '1', '--concurrency', '2'],
    ])
      expect((await command(['load', url, ...options])).code).toBe(2);
    expect(requests).toBe(0);
  });
});
