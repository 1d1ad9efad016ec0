/** Looks at whether a program can serve, and why it cannot. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { look, type Looked } from '../../../lib/workloads/program/ready-look.js';
import { whenReady } from '../../../lib/workloads/program/ready.js';
import { closedPort } from '../../ports.js';
import { temporaryFolder } from '../../temporary.js';

const signal = new AbortController().signal;
const seen = (ready: Looked) => look(ready, '/', signal);
const hasIpv6 = Object.values(networkInterfaces()).some((own) => own?.some(({ address }) => address === '::1'));
if (!hasIpv6) console.warn('skipped: this machine has no ::1');

/** Its port. */
function listening(server: Server, host = '127.0.0.1'): Promise<number> {
  onTestFinished(() => void server.close());
  return new Promise((resolve) => server.listen(0, host, () => resolve((server.address() as AddressInfo).port)));
}

const answering = (listener: RequestListener, host?: string) => listening(createHttp(listener), host);
const status =
  (code: number, headers = {}): RequestListener =>
  (_, response) =>
    response.writeHead(code, headers).end();

describe.each(['127.0.0.1', ...(hasIpv6 ? ['::1'] : [])])('a server at %s alone', (host) => {
  it('is seen by its port', async () =>
    expect(await seen({ by: 'port', port: await listening(createTcp(), host) })).toBeNull());

  it.each(['127.0.0.1', '[::1]', 'localhost'])('is seen by its answer at %s', async (named) => {
    const port = await answering(status(200), host);
    expect(await seen({ by: 'http', url: `http://${named}:${port}/` })).toBeNull();
  });

  it('is not ready by another answer', async () => {
    const port = await answering(status(404), host);
    expect(await seen({ by: 'http', url: `http://localhost:${port}/` })).toEqual({
      reason: 'status 404',
      isOfStart: false,
    });
  });
});

describe('the reason of a server that is not ready', () => {
  it.each<[number, object, string, boolean]>([
    [401, {}, 'status 401: it asks for authorization; give a path that needs none, or a port', false],
    [403, {}, 'status 403: it asks for authorization; give a path that needs none, or a port', false],
    [404, {}, 'status 404', false],
    [500, {}, 'status 500', false],
    [503, {}, 'status 503', true],
    [307, { location: '/ui?token=abc' }, "status 307, a redirect to '/ui?token=(not recorded)', which is not followed: give the URL it leads to", false], // prettier-ignore
  ])('with status %i', async (code, headers, reason, isOfStart) => {
    const url = `http://127.0.0.1:${await answering(status(code, headers))}/`;
    expect(await seen({ by: 'http', url })).toEqual({ reason, isOfStart });
  });

  it('where nobody listens', async () => {
    const port = await closedPort();
    for (const ready of [{ by: 'port', port } as const, { by: 'http', url: `http://127.0.0.1:${port}/` } as const])
      expect(await seen(ready)).toEqual({
        reason: expect.stringMatching(/^connection refused/) as string,
        isOfStart: true,
      });
  });

  it('where the name has no address', async () =>
    expect(await seen({ by: 'http', url: 'http://no-such-host.invalid/' })).toEqual({
      reason: expect.stringMatching(/^name not resolved: .*no-such-host\.invalid/) as string,
      isOfStart: false,
    }));

  it('where it speaks no TLS', async () => {
    const port = await answering(status(200));
    expect(await seen({ by: 'http', url: `https://127.0.0.1:${port}/` })).toEqual({
      reason: expect.stringMatching(/^TLS error: /) as string,
      isOfStart: false,
    });
  });

  it('where its certificate is not trusted', async (context) => {
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(temporaryFolder(), name)) as [string, string];
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
    const made = spawnSync('openssl', [...request, '-keyout', key, '-out', cert]);
    if (made.status !== 0) return context.skip('openssl cannot make a certificate here');
    const port = await listening(createHttps({ key: readFileSync(key), cert: readFileSync(cert) }, status(200)));
    expect(await seen({ by: 'http', url: `https://127.0.0.1:${port}/` })).toEqual({
      reason: expect.stringMatching(/^TLS error: self-signed certificate; NODE_EXTRA_CA_CERTS=FILE/) as string,
      isOfStart: false,
    });
  });

  it('of a file', async () =>
    expect(await seen({ by: 'file', path: 'no/such' })).toEqual({ reason: 'there is no such file', isOfStart: true }));
});

it('waiting says each reason once, until it is ready', async () => {
  const statuses = [503, 503, 404, 404, 200];
  const port = await answering((request, response) => status(statuses.shift() ?? 500)(request, response));
  const reasons: string[] = [];
  const onWaiting = ({ reason }: { reason: string }) => reasons.push(reason);
  const ready = { by: 'http', url: `http://127.0.0.1:${port}/` } as const;
  // The other address of localhost has nothing to say.
  await whenReady(ready, { cwd: '/', outputs: [], signal, onWaiting });
  expect(reasons).toEqual(['status 503', 'status 404']);
});
