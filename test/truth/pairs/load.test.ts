/** Times of a load compared with the server's own record, and with a second client. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { median, quantile } from 'simple-statistics';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../lib/load/request-record.js';
import { runLoad } from '../../../lib/load-settings.js';
import type { LoadSettings } from '../../../lib/settings-types.js';
import { temporaryFolder } from '../../temporary.js';

const pathOf = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const [REQUESTS, TOKENS] = [30, 20];
/** The documented accuracy of times to first token and between tokens. */
const AGREEMENT = 0.02;

interface Sent {
  id: string;
  receivedNs: string;
  tokenNs: string[];
}

/** One request as a client saw it, with the server's record of it. All in ms of CLOCK_MONOTONIC. */
interface Seen {
  sentMs: number;
  firstMs: number;
  lastMs: number;
  server: { receivedMs: number; firstMs: number; lastMs: number };
}

const msOf = (ns: string | undefined): number => Number(BigInt(ns ?? 0)) / 1e6;

interface Server {
  process: ChildProcess;
  port: number;
  url: string;
  record: string;
}

async function startServer(): Promise<Server> {
  const record = join(temporaryFolder('load'), 'sent.jsonl');
  const pace = ['--first-token-ms', '60', '--inter-token-ms', '12', '--jitter', '0.3', '--seed', '5'];
  const child = spawn(process.execPath, [pathOf('examples/openai-server/server.mjs'), ...pace, '--record', record], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const port = Number(/:(\d+)\/v1$/.exec(line)?.[1]);
  return { process: child, port, url: `http://127.0.0.1:${port}/v1`, record };
}

/** Returns all that it recorded. */
async function stopServer({ process: child, record }: Server): Promise<Map<string, Sent>> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
  const lines = readFileSync(record, 'utf8').trim().split('\n');
  return new Map(lines.map((line) => JSON.parse(line) as Sent).map((sent) => [sent.id, sent]));
}

/** The second client's requests, one after another. */
async function secondClient(port: number): Promise<{ id: string; sentNs: string; tokenNs: string[] }[]> {
  const args = [pathOf('test/truth/second-client.mjs'), String(port), String(REQUESTS), String(TOKENS)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  await once(child, 'close');
  return lines.map((line) => JSON.parse(line) as { id: string; sentNs: string; tokenNs: string[] });
}

function beside(sent: Map<string, Sent>, id: string | null): Seen['server'] {
  const { receivedNs, tokenNs = [] } = sent.get(id ?? '') ?? {};
  expect(tokenNs).toHaveLength(TOKENS);
  return { receivedMs: msOf(receivedNs), firstMs: msOf(tokenNs[0]), lastMs: msOf(tokenNs.at(-1)) };
}

/** How much more time to the first token a client measured than the server. */
const beyondTtft = ({ sentMs, firstMs, server }: Seen) => firstMs - sentMs - (server.firstMs - server.receivedMs);
const serverTtft = ({ server }: Seen) => server.firstMs - server.receivedMs;
/** The mean interval between tokens of a request, as the client received and as the server sent them. */
const itl = ({ firstMs, lastMs }: Pick<Seen, 'firstMs' | 'lastMs'>) => (lastMs - firstMs) / (TOKENS - 1);
const of = (seen: Seen[], value: (each: Seen) => number) => median(seen.map(value));

describe.each<[string, Pick<LoadSettings, 'concurrency'> | Pick<LoadSettings, 'ratePerSecond'>]>([
  ['a closed loop', { concurrency: 2 }],
  ['an open loop', { ratePerSecond: 8 }],
])('%s against a server with a known rate', (_, arrivals) => {
  const ours: (Seen & { scheduledMs: number })[] = [];
  let second: Seen[] = [];
  let result: Awaited<ReturnType<typeof runLoad>>;

  beforeAll(async () => {
    const server = await startServer();
    const records: RequestRecord[] = [];
    const settings = {
      api: 'chat',
      model: 'paced-tokens',
      prompt: 'x',
      maxTokens: TOKENS,
      requests: REQUESTS,
    } as const;
    const [load, other] = await Promise.all([
      runLoad({ ...settings, ...arrivals, url: `${server.url}/chat/completions` } as LoadSettings, {
        onRequest: (record) => records.push(record),
      }),
      secondClient(server.port),
    ]);
    const sent = await stopServer(server);
    result = load;
    for (const { tokens, scheduledMs, sentMs } of records)
      if (tokens) ours.push({ scheduledMs, sentMs, ...tokens, server: beside(sent, tokens.id) });
    second = other.map(({ id, sentNs, tokenNs }) => ({
      ...{ sentMs: msOf(sentNs), firstMs: msOf(tokenNs[0]), lastMs: msOf(tokenNs.at(-1)), server: beside(sent, id) },
    }));
  });

  it('loses no request and no token', () => {
    expect(result).toMatchObject({
      completed: true,
      succeeded: REQUESTS,
      tokens: REQUESTS * TOKENS,
      tokensBy: 'usage',
    });
    expect(result.itlMs).toHaveLength(REQUESTS * (TOKENS - 1));
    expect([ours.length, second.length]).toEqual([REQUESTS, REQUESTS]);
  });

  it('sees no token before it was sent', () => {
    for (const { sentMs, firstMs, lastMs, server } of ours) {
      expect(server.receivedMs).toBeGreaterThanOrEqual(sentMs);
      expect(firstMs).toBeGreaterThanOrEqual(server.firstMs);
      expect(lastMs).toBeGreaterThanOrEqual(server.lastMs);
    }
  });

  it("matches the server's time to first token, as well as the second client does", () => {
    // A process that waits for a processor reads its token late: on a busy machine most of them do, but not all.
    const beyond = (seen: Seen[]) => quantile(seen.map(beyondTtft), 0.1);
    expect(beyond(ours)).toBeGreaterThanOrEqual(0);
    expect(beyond(ours)).toBeLessThanOrEqual(AGREEMENT * of(ours, serverTtft) + beyond(second));
  });

  it("matches the server's intervals between tokens, as well as the second client does", () => {
    // Of a request whose first and last token were both read in time.
    const off = (seen: Seen[]) =>
      quantile(
        seen.map((each) => Math.abs(itl(each) - itl(each.server))),
        0.1,
      );
    expect(off(ours)).toBeLessThanOrEqual(AGREEMENT * of(ours, ({ server }) => itl(server)) + off(second));
  });

  it('publishes those times', () => {
    // From each request's due time, in the order in which they ended.
    ours.forEach(({ firstMs, scheduledMs }, index) => expect(result.ttftMs[index]).toBe(firstMs - scheduledMs));
    result.tpotMs.forEach((ms, index) => expect(ms).toBeCloseTo(itl(ours[index] as Seen), 6));
  });
});
