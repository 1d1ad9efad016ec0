/** Requests to one endpoint over connections that are kept open. No request is repeated and no redirect followed. */
import * as http from 'node:http';
import * as https from 'node:https';
import { nowMs } from './clock.js';
import { failureOf, RequestFailure } from './request-failure.js';

/** The largest body, streams included. A larger one is an error and is not stored. */
const MOST_BODY_BYTES = 64 * 2 ** 20;
/** How much of an error's answer the message repeats. */
const SHOWN_BYTES = 300;

export interface Endpoint {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  /** Time limit from the call of `send` to the end of the answer. */
  timeoutMs: number;
  /** The largest body, in bytes. Default: 64 MiB. */
  mostBodyBytes?: number;
}

export interface Receiver {
  /** Gets the head of an answer with a status from 200 to 299; may throw RequestFailure. */
  onHead?: (headers: http.IncomingHttpHeaders) => void;
  /** Gets a piece of the body and the time when it was read; may throw RequestFailure. */
  onData: (chunk: Buffer, atMs: number) => void;
}

interface Answer {
  status: number;
  bytes: number;
  endMs: number;
}

export class HttpClient {
  readonly #endpoint: Endpoint;
  readonly #agent: http.Agent;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    const options = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: Infinity };
    this.#agent = endpoint.url.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options);
  }

  /**
   * Sends a request. Rejects with RequestFailure, also for a status that is not from 200 to 299, and with the signal's
   * reason after an abort.
   */
  send(body: string | null, receiver: Receiver, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      new Exchange(this.#endpoint, this.#agent, receiver, signal, { resolve, reject }).start(body);
    });
  }

  /** Ends all connections. */
  close(): void {
    this.#agent.destroy();
  }
}

interface Settling {
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** One request and its answer. */
class Exchange {
  readonly #request: http.ClientRequest;
  readonly #timer: NodeJS.Timeout;
  #response: http.IncomingMessage | null = null;
  #bytes = 0;
  #isSettled = false;

  constructor(
    private readonly endpoint: Endpoint,
    agent: http.Agent,
    private readonly receiver: Receiver,
    private readonly signal: AbortSignal,
    private readonly settling: Settling,
  ) {
    const { url, method, headers, timeoutMs } = endpoint;
    const request = url.protocol === 'https:' ? https.request : http.request;
    this.#request = request(url, { method, headers: { 'accept-encoding': 'identity', ...headers }, agent });
    this.#timer = setTimeout(() => this.#fail(this.#timedOut()), timeoutMs);
    this.signal.addEventListener('abort', this.#aborted, { once: true });
  }

  start(body: string | null): void {
    this.#request
      .on('response', (response) => this.#answered(response))
      .on('error', (error) => this.#fail(this.#connectionFailure(error)))
      // Node reports an upgrade of the protocol only by this event.
      .on('close', () => this.#closed());
    if (body === null) this.#request.end();
    else this.#request.setHeader('content-length', Buffer.byteLength(body)).end(body);
  }

  readonly #aborted = (): void => this.#fail(this.signal.reason);

  #answered(response: http.IncomingMessage): void {
    this.#response = response;
    // The request is closed as well.
    response.on('error', () => {});
    const { statusCode: status = 0 } = response;
    if (status < 200 || status > 299) return this.#refused(response, status);
    this.#guarded(() => this.receiver.onHead?.(response.headers));
    response.on('data', (chunk: Buffer) => {
      const atMs = nowMs();
      if (this.#isSettled) return;
      this.#bytes += chunk.length;
      this.#guarded(() => {
        this.#checkSize();
        this.receiver.onData(chunk, atMs);
      });
    });
    response.on('end', () => {
      const endMs = nowMs();
      if (this.#settle()) this.settling.resolve({ status, bytes: this.#bytes, endMs });
    });
  }

  /** Reads a bounded part of the answer, which may be endless. */
  #refused(response: http.IncomingMessage, status: number): void {
    const chunks: Buffer[] = [];
    const fail = () => {
      const text = Buffer.concat(chunks).subarray(0, SHOWN_BYTES).toString().replace(/\s+/g, ' ').trim();
      const redirect = status >= 300 && status < 400 ? ': redirects are not followed; give the URL it leads to' : '';
      this.#fail(new RequestFailure(`status ${status}`, `status ${status}${redirect}${text && `: ${text}`}`));
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      this.#bytes += chunk.length;
      if (this.#bytes >= SHOWN_BYTES) fail();
    });
    response.on('end', fail);
  }

  #checkSize(): void {
    const { mostBodyBytes = MOST_BODY_BYTES } = this.endpoint;
    if (this.#bytes > mostBodyBytes)
      throw new RequestFailure('body too large', `the body has more than ${mostBodyBytes} bytes`);
  }

  #closed(): void {
    const failure = this.#response
      ? new RequestFailure('closed early', `closed after ${this.#bytes} bytes of the body`)
      : new RequestFailure('connection closed', 'the connection was closed without an answer');
    this.#fail(failure);
  }

  #guarded(receive: () => void): void {
    try {
      receive();
    } catch (error) {
      this.#fail(error);
    }
  }

  #timedOut(): RequestFailure {
    const seconds = `${this.endpoint.timeoutMs / 1_000} s`;
    const seen = this.#response ? `the answer did not end (${this.#bytes} bytes came)` : 'no answer began';
    return new RequestFailure('timeout', `${seen} within ${seconds}`);
  }

  /**
   * Names the failure of a connection. A server may close an idle one just as the next request is sent on it, which
   * says nothing about its load.
   */
  #connectionFailure(error: Error): RequestFailure {
    const failure = failureOf(error);
    if (!this.#request.reusedSocket || this.#response || failure.reason !== 'connection closed') return failure;
    return new RequestFailure('idle connection closed', `a kept connection was closed: ${failure.message}`);
  }

  /** Settles the exchange; false where it was settled already. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.signal.removeEventListener('abort', this.#aborted);
    return true;
  }

  #fail(error: unknown): void {
    if (!this.#settle()) return;
    // A connection whose answer was read to its end is kept for the next request.
    if (!this.#response?.complete) this.#request.destroy();
    this.settling.reject(error);
  }
}
