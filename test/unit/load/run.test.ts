import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { runLoad } from '../../../lib/load-settings.js';
import type { LoadSettings } from '../../../lib/settings-types.js';
import { WAIT_MS } from '../../limits.js';
import { closedUrl, httpServer } from './servers.js';

/** Long enough that no request times out, on any machine. */
const timeout = WAIT_MS / 1_000;
const token = (text: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text }, finish_reason: finish }] })}\n\n`;
const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const chat = { api: 'chat', model: 'm', prompt: 'number {request}', warmup: 0, timeout } as const;

describe('a load', () => {
  it('sends the warm-up first, then the requested number at a time', async () => {
    const prompts: string[] = [];
    const held: ServerResponse[] = [];
    const url = await httpServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { content: string }[] };
      prompts.push(messages[0]?.content ?? '');
      stream(response).write(token('a'));
      held.push(response);
      // Nothing is answered before this many are in flight: with fewer at a time the load would not end.
      if (held.length < (prompts.length <= 2 ? 2 : 4)) return;
      for (const each of held.splice(0)) each.end(`${token('b')}${token('', 'stop')}data: [DONE]\n\n`);
    });
    const result = await runLoad({ ...chat, url, requests: 20, concurrency: 4, warmup: 2 });
    expect(prompts.slice(0, 2).sort()).toEqual(['number -1', 'number -2']);
    expect(prompts.slice(2).sort()).toEqual(Array.from({ length: 20 }, (_, i) => `number ${i}`).sort());
    expect(held).toEqual([]);
    expect(result).toMatchObject({
      completed: true,
      requests: 20,
      succeeded: 20,
      tokens: 40,
      tokensBy: 'chunks',
      errors: [],
    });
    expect([result.ttftMs, result.itlMs, result.latencyMs].map(({ length }) => length)).toEqual([20, 20, 20]);
    result.ttftMs.forEach((ms, index) => expect(ms).toBeLessThanOrEqual(result.latencyMs[index] as number));
  });

  it('counts every error by its reason, and continues', async () => {
    const answers: ((response: ServerResponse) => void)[] = [
      (response) => stream(response).end(`${token('a')}${token('', 'stop')}data: [DONE]\n\n`),
      (response) => stream(response).end(`${token('a')}${token('', 'abort')}data: [DONE]\n\n`),
      (response) => stream(response).end(`${token('a')}data: [DONE]\n\n`),
      (response) => stream(response).end(`${token('a')}${token('', 'stop')}`),
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"error": "no model"}'),
      (response) =>
        response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).end('x'),
      (response) => response.writeHead(429).end('{"error": "slow down"}'),
      (response) => response.writeHead(500).end(),
      (response) => response.writeHead(307, { location: '/' }).end(),
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices": []}'),
      (response) => stream(response).end(`${token('a')}data: {"choi`),
      (response) => stream(response).end('data: {"choi\n\n'),
      (response) => stream(response).end(Buffer.from([0xff, 0x00, 0x0a, 0x0a])),
      (response) => stream(response).end(),
      (response) => stream(response).end('data: {"error": {"message": "out of memory"}}\n\n'),
      (response) => stream(response).end('data: [DONE]\n\n'),
      (response) => stream(response).end(`data: ${'x'.repeat(2 ** 20 + 1)}`),
      (response) => {
        stream(response).write(token('a'));
        setImmediate(() => response.destroy());
      },
      (response) => response.destroy(),
      (response) => stream(response).end(`${token('a', 'stop')}data: [DONE]\n\n`),
    ];
    let next = 0;
    const url = await httpServer((request, response) => {
      // After reading it completely: closing a socket with unread bytes resets it.
      request.resume().on('end', () => answers[next++]?.(response));
    });
    const result = await runLoad({ ...chat, url, requests: answers.length, concurrency: 1 });
    const reasons = Object.fromEntries(result.errors.map(({ reason, count }) => [reason, count]));
    const { 'connection closed': closed = 0, 'idle connection closed': idle = 0, ...others } = reasons;
    // Whether the connection was new depends on the previous requests.
    expect(closed + idle).toBe(1);
    expect(others).toEqual({
      ...{ 'status 429': 1, 'status 500': 1, 'status 307': 1, 'not a stream': 1, 'invalid chunk': 1, 'no tokens': 1 },
      ...{ 'ended by abort': 1, 'error in the body': 1, 'compressed answer': 1 },
      // Those without a finish_reason or [DONE] that other answers have, too.
      ...{ 'stream ended early': 5, 'error in the stream': 1, 'line too long': 1, 'closed early': 1 },
    });
    expect(result).toMatchObject({ requests: 20, succeeded: 2, completed: true });
    expect([result.latencyMs, result.ttftMs].map(({ length }) => length)).toEqual([2, 2]);
    expect(result.ends).toEqual([
      { reason: 'stop', count: 3 },
      { reason: 'abort', count: 1 },
    ]);
    expect(result.errors.find(({ reason }) => reason === 'status 429')?.message).toContain('slow down');
  });

  it.each<[string, string]>([
    ['OpenAI', '{"error": {"message": "overloaded"}}'],
    ['Ollama, after lines of JSON', '{"response": "a", "done": false}\n{"error": "out of memory"}\n'],
    ['Anthropic, in a stream', 'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error"}}\n\n'],
  ])('of plain HTTP takes an error of %s with a status of success as one', async (_, body) => {
    const url = await httpServer((_request, response) => response.end(body));
    const { errors, latencyMs } = await runLoad({ url, requests: 2, concurrency: 1, warmup: 0, timeout });
    expect([errors.map(({ reason, count }) => [reason, count]), latencyMs]).toEqual([[['error in the body', 2]], []]);
  });

  it('of plain HTTP says that it could not read a compressed body, and leaves others alone', async () => {
    let compressed = true;
    const url = await httpServer((_, response) => {
      if (compressed) response.setHeader('content-encoding', 'br');
      response.end('{"errors": 0, "detail": "fine", "text": "error"}');
    });
    const send = () => runLoad({ url, requests: 2, concurrency: 1, warmup: 0, timeout });
    expect(await send()).toMatchObject({
      succeeded: 2,
      unknown: [{ what: 'content-encoding', count: 2, example: 'br' }],
    });
    compressed = false;
    expect(await send()).toMatchObject({ succeeded: 2, unknown: [], notes: [], ends: [] });
  });

  it('of an open loop includes the time for which a stalling server makes requests wait', async () => {
    const waiting: ServerResponse[] = [];
    const url = await httpServer((_, response) => {
      waiting.push(response);
      // Answers nothing until all have arrived: a closed loop would never send the second one.
      if (waiting.length === 30) for (const each of waiting) each.end('x');
    });
    const result = await runLoad({ url, requests: 30, ratePerSecond: 300, seed: 3, warmup: 0, timeout });
    expect(result).toMatchObject({ succeeded: 30, loop: 'open', offeredPerSecond: 300 });
    expect(result.lateMs.every((ms) => ms >= 0)).toBe(true);
    // All answers come together: the earlier a request was due, the longer it took.
    const [longest, shortest] = [Math.max(...result.latencyMs), Math.min(...result.latencyMs)];
    expect(longest - shortest).toBeGreaterThan(20);
  });

  it('ends requests that time out', async () => {
    const url = await httpServer(() => {});
    const result = await runLoad({ url, requests: 5, concurrency: 5, warmup: 1, timeout: 0.05 });
    expect(result).toMatchObject({ requests: 5, succeeded: 0, completed: true, latencyMs: [] });
    expect(result.errors).toEqual([{ reason: 'timeout', count: 5, message: 'no answer began within 0.05 s' }]);
    expect(result.warmupErrors).toMatchObject([{ reason: 'timeout', count: 1 }]);
    expect(result.invalid).toBe('none of 5 requests succeeded, most often: timeout (no answer began within 0.05 s)');
  });

  it('is a result even if nothing listens', async () => {
    const result = await runLoad({ url: await closedUrl(), requests: 3, concurrency: 1 });
    expect(result).toMatchObject({ requests: 3, succeeded: 0, errors: [{ reason: 'connection refused', count: 3 }] });
  });

  it('reports each request as it ends, including errors', async () => {
    let requests = 0;
    const url = await httpServer((_, response) => response.writeHead(++requests % 2 === 0 ? 500 : 200).end());
    const seen: (string | undefined)[] = [];
    const onRequest = ({ failure }: { failure: { reason: string } | null }) => seen.push(failure?.reason);
    await runLoad({ url, requests: 4, concurrency: 1, warmup: 0, timeout }, { onRequest });
    expect(seen).toEqual([undefined, 'status 500', undefined, 'status 500']);
  });

  it.each<[string, Partial<LoadSettings>]>([
    ['a closed loop', { concurrency: 3 }],
    ['an open loop', { ratePerSecond: 200 }],
  ])('of %s ends at an abort, with the results so far and no connection left', async (_, arrivals) => {
    const stop = new AbortController();
    let [requests, open] = [0, 0];
    const url = await httpServer((request, response) => {
      open++;
      request.socket.once('close', () => open--);
      response.on('error', () => {});
      if (++requests <= 2) response.writeHead(200, { connection: 'close' }).end();
      // As many as the closed loop has in flight, besides two that are answered.
      if (requests === 5) stop.abort();
    });
    const settings = { url, requests: 1_000, warmup: 0, timeout, ...arrivals } as LoadSettings;
    const result = await runLoad(settings, { signal: stop.signal });
    expect(result).toMatchObject({ completed: false, requests: 2, succeeded: 2, errors: [] });
    await expect.poll(() => open).toBe(0);
  });

  it('that was aborted before it began sends nothing', async () => {
    let requests = 0;
    const url = await httpServer((_, response) => {
      requests++;
      response.end();
    });
    const result = await runLoad({ url, requests: 5, concurrency: 2 }, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ completed: false, requests: 0, invalid: 'no request ended' });
    expect(requests).toBe(0);
  });
});
