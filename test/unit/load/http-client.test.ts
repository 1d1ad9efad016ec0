import { setMaxListeners } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Endpoint, HttpClient, type Receiver } from '../../../lib/load/http-client.js';
import { RequestFailure } from '../../../lib/load/request-failure.js';
import { WAIT_MS } from '../../limits.js';
import { closedUrl, httpServer, tcpServer } from './servers.js';

const never = new AbortController().signal;
setMaxListeners(0, never);
const ignored: Receiver = { onData: () => {} };

function clientOf(url: string, endpoint: Partial<Endpoint> = {}): HttpClient {
  const client = new HttpClient({ url: new URL(url), method: 'GET', headers: {}, timeoutMs: WAIT_MS, ...endpoint });
  onTestFinished(() => client.close());
  return client;
}

async function failure(client: HttpClient, receiver = ignored): Promise<string> {
  const error: unknown = await client.send(null, receiver, never).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RequestFailure)) throw new Error(`Expected a RequestFailure but received ${String(error)}`);
  return `${error.reason}: ${error.message}`;
}

const answering = (text: string) => tcpServer((socket) => socket.write(text));

describe('a request', () => {
  it('sends method, headers and body, and delivers the answer in pieces', async () => {
    const seen: unknown[] = [];
    const url = await httpServer((request, response) => {
      const { method, headers } = request;
      request.on('data', (chunk: Buffer) => seen.push({ method, body: chunk.toString(), headers })).on('end', () => {
        response.end('answer');
      });
    }); // prettier-ignore
    const client = clientOf(url, { method: 'POST', headers: { 'x-key': 'v' } });
    let body = '';
    const answer = await client.send('naïve', { onData: (chunk) => (body += chunk.toString()) }, never);
    expect(answer).toMatchObject({ status: 200, bytes: 6 });
    expect(body).toBe('answer');
    expect(seen).toMatchObject([
      {
        method: 'POST',
        body: 'naïve',
        headers: { 'x-key': 'v', 'content-length': '6', 'accept-encoding': 'identity' },
      },
    ]);
  });

  it('reuses the previous connection', async () => {
    const ports = new Set<number | undefined>();
    const url = await httpServer(({ socket }, response) => {
      ports.add(socket.remotePort);
      response.end('x');
    });
    const client = clientOf(url);
    for (let i = 0; i < 5; i++) await client.send(null, ignored, never);
    expect(ports.size).toBe(1);
  });

  it('uses as many connections as there are concurrent requests', async () => {
    const waiting: (() => void)[] = [];
    const url = await httpServer((_, response) => {
      waiting.push(() => response.end());
      if (waiting.length === 300) for (const answer of waiting) answer();
    });
    const client = clientOf(url);
    await Promise.all(Array.from({ length: 300 }, () => client.send(null, ignored, never)));
  });

  it('keeps the connection after an answer that is an error', async () => {
    const ports = new Set<number | undefined>();
    const url = await httpServer(({ socket }, response) => {
      ports.add(socket.remotePort);
      response.writeHead(429, { 'content-length': 4 }).end('wait');
    });
    const client = clientOf(url);
    for (let i = 0; i < 3; i++) expect(await failure(client)).toBe('status 429: status 429: wait');
    expect(ports.size).toBe(1);
  });
});

describe('a request fails', () => {
  it.each([
    [500, 'status 500: status 500: no\nGPU'],
    [404, 'status 404: status 404: no\nGPU'],
  ])('with status %d', async (status, text) => {
    const url = await httpServer((_, response) => response.writeHead(status).end('no\nGPU'));
    expect(await failure(clientOf(url))).toBe(text.replace('\n', ' '));
  });

  it('with a redirect, which is not followed: a loop of them has one request', async () => {
    let requests = 0;
    const url = await httpServer((_, response) => {
      requests++;
      response.writeHead(302, { location: '/' }).end();
    });
    expect(await failure(clientOf(url))).toBe(
      'status 302: status 302: redirects are not followed; give the URL it leads to',
    );
    expect(requests).toBe(1);
  });

  it('if an error has an endless body, whose start is shown', async () => {
    const url = await httpServer((_, response) => {
      response.writeHead(503).on('error', () => {});
      const more = () => {
        if (!response.destroyed) response.write('busy '.repeat(10_000), more);
      };
      more();
    });
    const text = await failure(clientOf(url));
    expect(text).toMatch(/^status 503: status 503: busy busy/);
    expect(text.length).toBeLessThan(400);
  });

  it('if nothing listens', async () =>
    expect(await failure(clientOf(await closedUrl()))).toMatch(/^connection refused: .*ECONNREFUSED/));

  it('if the name is none', async () =>
    expect(await failure(clientOf('http://nothing.invalid/'))).toMatch(/^name not resolved: /));

  it('if the server closes without an answer', async () => {
    const url = await tcpServer((socket) => socket.destroy());
    expect(await failure(clientOf(url))).toMatch(/^connection closed: /);
  });

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['a chunk that is none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(10_000)}`],
  ])('if the answer is %s', async (_, text) =>
    expect(await failure(clientOf(await answering(text)))).toMatch(/^malformed answer: Parse Error/),
  );

  it('if the connection is closed within the body', async () => {
    const url = await tcpServer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'));
    expect(await failure(clientOf(url))).toBe('closed early: closed after 3 bytes of the body');
  });

  it('if the server changes to another protocol', async () => {
    const url = await answering('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
    expect(await failure(clientOf(url))).toMatch(/^connection closed: /);
  });

  it('if no answer begins within its time', async () => {
    const url = await tcpServer(() => {});
    expect(await failure(clientOf(url, { timeoutMs: 50 }))).toBe('timeout: no answer began within 0.05 s');
  });

  it('if headers come byte by byte and never end', async () => {
    const url = await tcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-a: b\r\n'), 5);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await failure(clientOf(url, { timeoutMs: 100 }))).toBe('timeout: no answer began within 0.1 s');
  });

  it('if the body does not end within its time, although data keeps arriving', async () => {
    const url = await httpServer((_, response) => {
      const timer = setInterval(() => response.write('x'), 5);
      response.on('close', () => clearInterval(timer));
    });
    const text = await failure(clientOf(url, { timeoutMs: 1_500 }));
    expect(text).toMatch(/^timeout: the answer did not end \(\d+ bytes came\) within 1\.5 s$/);
  });

  it('if the body is larger than allowed, long before its end', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(2 ** 16);
    const url = await httpServer((_, response) => {
      response.writeHead(200, { 'content-length': 2 ** 30 }).on('error', () => {});
      const more = () => {
        sent += chunk.length;
        if (!response.destroyed && sent < 2 ** 30) response.write(chunk, more);
      };
      more();
    });
    const client = clientOf(url, { mostBodyBytes: 2 ** 20 });
    expect(await failure(client)).toBe('body too large: the body has more than 1048576 bytes');
    expect(sent).toBeLessThan(2 ** 29);
  });

  it('if its reader rejects it, and the connection is not reused', async () => {
    const ports = new Set<number | undefined>();
    const url = await httpServer(({ socket }, response) => {
      ports.add(socket.remotePort);
      response.write('x');
    });
    const client = clientOf(url);
    const refuse = () => {
      throw new RequestFailure('bad', 'it is bad');
    };
    expect(await failure(client, { onData: refuse })).toBe('bad: it is bad');
    expect(await failure(client, { onHead: refuse, onData: () => {} })).toBe('bad: it is bad');
    expect(ports.size).toBe(2);
  });

  it('with a specific reason if a kept connection is closed during its reuse', async () => {
    let requests = 0;
    const url = await tcpServer((socket) => {
      if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx');
      else socket.destroy();
    });
    const client = clientOf(url);
    await client.send(null, ignored, never);
    // The socket is free one event loop turn later.
    await new Promise(setImmediate);
    expect(await failure(client)).toMatch(/^idle connection closed: a kept connection was closed: /);
  });
});

it('an abort rejects with its reason, before the request and during it, and closes the connection', async () => {
  let closed = 0;
  const url = await tcpServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\nx');
    socket.on('close', () => closed++);
  });
  const client = clientOf(url);
  const stop = new AbortController();
  const reason = new Error('enough');
  const sent = client.send(null, { onData: () => stop.abort(reason) }, stop.signal);
  await expect(sent).rejects.toBe(reason);
  await expect(client.send(null, ignored, stop.signal)).rejects.toBe(reason);
  await expect.poll(() => closed).toBe(1);
});

it("an error of the program itself does not count as the request's", async () => {
  const url = await httpServer((_, response) => response.end('x'));
  const wrong = new TypeError('a bug');
  const sent = clientOf(url).send(
    null,
    {
      onData: () => {
        throw wrong;
      },
    },
    never,
  );
  await expect(sent).rejects.toBe(wrong);
});
