// A small OpenAI-compatible server that sends tokens at a known pace and records when it sent each: to try a load, and to
// check a client's times against the server's own. No model runs. Plain Node, no dependencies; README.md has the options.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const MODEL = 'paced-tokens';
const MOST_BODY_BYTES = 1024 * 1024;
// One of them is not ASCII, so that a client meets characters of several bytes.
const WORDS = ['one', 'two', 'three', 'naïve', 'five', '六', 'seven', 'eight'];

const ranges = {
  port: [0, 65_535, 0],
  'first-token-ms': [0, 600_000, 50],
  'inter-token-ms': [0, 600_000, 10],
  jitter: [0, 1, 0],
  seed: [0, 2 ** 32 - 1, 1],
  tokens: [1, 1_000_000, 64],
  'most-active': [1, 1_000_000, 1_000_000],
};

function readOptions() {
  const texts = ['host', 'record', ...Object.keys(ranges)];
  const { values } = parseArgs({ options: Object.fromEntries(texts.map((name) => [name, { type: 'string' }])) });
  const numbers = Object.entries(ranges).map(([name, [least, most, usual]]) => {
    const text = values[name];
    const value = text === undefined ? usual : Number(text);
    if (text?.trim() === '' || !(value >= least && value <= most))
      throw new Error(`Expected --${name} to be a number from ${least} to ${most} but received '${text}'.`);
    return [name, value];
  });
  return { host: values.host ?? '127.0.0.1', record: values.record ?? null, ...Object.fromEntries(numbers) };
}

/** Nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share. */
const now = () => process.hrtime.bigint();
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Uniform in [0, 1): the n-th number of a request, the same for the same seed. */
function uniform(seed, request, n) {
  return createHash('sha256').update(`${seed} ${request} ${n}`).digest().readUInt32BE() / 2 ** 32;
}

function readBody(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    let bytes = 0;
    request.on('data', (chunk) => {
      bytes += chunk.length;
      if (bytes <= MOST_BODY_BYTES) chunks.push(chunk);
    });
    request.on('error', reject).on('end', () => {
      if (bytes > MOST_BODY_BYTES) reject(new Refusal(413, `The body has more than ${MOST_BODY_BYTES} bytes.`));
      else resolve(Buffer.concat(chunks).toString());
    });
  });
}

class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function parsed(text) {
  let body;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, `Expected the body to be JSON: ${error.message}`);
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal(400, 'Expected the body to be a JSON object.');
  return body;
}

/** What is asked for: the forms of chat and of plain completions differ in names alone. */
function questionOf(path, body, options) {
  const isChat = path === '/v1/chat/completions';
  if (isChat && !Array.isArray(body.messages)) throw new Refusal(400, 'Expected messages to be a list.');
  if (!isChat && typeof body.prompt !== 'string') throw new Refusal(400, 'Expected prompt to be text.');
  const tokens = body.max_completion_tokens ?? body.max_tokens ?? options.tokens;
  if (!Number.isInteger(tokens) || tokens < 1 || tokens > ranges.tokens[1])
    throw new Refusal(400, `Expected max_tokens to be an integer from 1 to ${ranges.tokens[1]}.`);
  const usage = body.stream_options?.include_usage === true;
  return { path, isChat, tokens, stream: body.stream === true, withUsage: usage };
}

const options = readOptions();
const record = options.record === null ? null : createWriteStream(options.record);
let requests = 0;
let active = 0;
let isStopping = false;

/** Answers `onToken` for every token when it is due. Due times add up from the start: a late one delays no other. */
async function generate(number, question, isGone, onToken) {
  const startMs = performance.now();
  let dueMs = startMs;
  for (let n = 0; n < question.tokens && !isGone(); n++) {
    const mean = n === 0 ? options['first-token-ms'] : options['inter-token-ms'];
    dueMs += mean * (1 + options.jitter * (2 * uniform(options.seed, number, n) - 1));
    const restMs = dueMs - performance.now();
    if (restMs > 0) await pause(restMs);
    if (!isGone()) onToken(n, `${n === 0 ? '' : ' '}${WORDS[n % WORDS.length]}`);
  }
}

const usageOf = (tokens) => ({ prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1 });

function streaming(response, about, question) {
  const object = question.isChat ? 'chat.completion.chunk' : 'text_completion';
  const send = (rest) => response.write(`data: ${JSON.stringify({ ...about, object, ...rest })}\n\n`);
  const choice = (delta, finish) => ({
    choices: [{ index: 0, ...(question.isChat ? { delta } : { text: delta.content ?? '' }), finish_reason: finish }],
  });
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  response.flushHeaders();
  if (question.isChat) send(choice({ role: 'assistant', content: '' }, null));
  return {
    token: (text) => send(choice({ content: text }, null)),
    end: (tokens) => {
      send(choice({}, 'length'));
      if (question.withUsage) send({ choices: [], usage: usageOf(tokens) });
      response.end('data: [DONE]\n\n');
    },
  };
}

function whole(response, about, question) {
  const texts = [];
  return {
    token: (text) => texts.push(text),
    end: (tokens) => {
      const content = texts.join('');
      const object = question.isChat ? 'chat.completion' : 'text_completion';
      const answer = question.isChat ? { message: { role: 'assistant', content } } : { text: content };
      const choices = [{ index: 0, ...answer, finish_reason: 'length' }];
      json(response, 200, { ...about, object, choices, usage: usageOf(tokens) });
    },
  };
}

async function complete(path, request, response) {
  const receivedNs = now();
  const number = requests++;
  const question = questionOf(path, parsed(await readBody(request)), options);
  if (active >= options['most-active']) throw new Refusal(429, `${active} requests are under way.`);
  const id = `${question.isChat ? 'chatcmpl' : 'cmpl'}-${number}`;
  const about = { id, created: Math.floor(Date.now() / 1000), model: MODEL };
  const output = (question.stream ? streaming : whole)(response, about, question);
  const tokenNs = [];
  active++;
  try {
    await generate(
      number,
      question,
      () => response.destroyed,
      (_, text) => {
        // Before it is sent: no client can have seen it earlier.
        tokenNs.push(String(now()));
        output.token(text);
      },
    );
  } finally {
    active--;
  }
  const completed = !response.destroyed;
  if (completed) output.end(tokenNs.length);
  const line = { id, path, stream: question.stream, completed, receivedNs: String(receivedNs), tokenNs };
  // The file of the record is closed by then.
  if (isStopping) return;
  record?.write(`${JSON.stringify({ ...line, endNs: String(now()) })}\n`);
}

function json(response, status, value) {
  const text = JSON.stringify(value);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

async function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (request.method === 'GET' && pathname === '/v1/models') {
    json(response, 200, { object: 'list', data: [{ id: MODEL, object: 'model', created: 0, owned_by: 'example' }] });
    return;
  }
  if (!['/v1/chat/completions', '/v1/completions'].includes(pathname))
    throw new Refusal(404, `Expected /v1/models, /v1/chat/completions or /v1/completions but received ${pathname}.`);
  if (request.method !== 'POST') throw new Refusal(405, `Expected POST but received ${request.method}.`);
  await complete(pathname, request, response);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    if (response.headersSent) return response.destroy();
    const status = error.status ?? 500;
    json(response, status, { error: { message: error.message, type: 'invalid_request_error', code: status } });
  });
});
// A connection that a client keeps stays open between two of its requests.
server.keepAliveTimeout = 60_000;
server.listen(options.port, options.host, () => {
  const { address, port } = server.address();
  console.log(`Listening on http://${address.includes(':') ? `[${address}]` : address}:${port}/v1`);
});

const stop = () => {
  isStopping = true;
  server.closeAllConnections();
  server.close(() => (record ? record.end(() => process.exit(0)) : process.exit(0)));
};
process.once('SIGTERM', stop).once('SIGINT', stop);
