/** The options of `load`, which are the keys of a load in YAML. */
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../lib/errors/usage-error.js';
import { parseLoad, type RawLoadOptions } from '../../../lib/cli/commands/load.js';

const URL_TEXT = 'http://127.0.0.1:8000/v1/chat/completions';
/** With the defaults of the command line. */
const parsed = (raw: Partial<RawLoadOptions>, url = URL_TEXT) =>
  parseLoad(url, { api: 'http', requests: '100', concurrency: '1', ...raw });

describe('the options of load', () => {
  it('have the defaults of a load', () =>
    expect(parsed({})).toMatchObject({
      ...{ api: 'http', method: 'GET', headers: {}, body: null, requests: 100, warmup: 3, timeoutMs: 60_000 },
      arrivals: { loop: 'closed', concurrency: 1 },
    }));

  it('are those of the YAML', () => {
    const plan = parsed({
      ...{ api: 'chat', model: 'm', prompt: '{request}', maxTokens: '16', ratePerSecond: '4', seed: '7' },
      ...{ warmup: '0', timeout: '2.5', requests: '300', header: ['X-Id: 5', 'authorization:Bearer a:b'] },
    });
    expect(plan).toMatchObject({
      ...{ api: 'chat', requests: 300, warmup: 0, timeoutMs: 2_500 },
      arrivals: { loop: 'open', ratePerSecond: 4, seed: 7 },
      headers: { 'x-id': '5', authorization: 'Bearer a:b' },
    });
    expect(JSON.parse(plan.body ?? '')).toMatchObject({ model: 'm', max_tokens: 16, stream: true });
  });

  it.each<[Partial<RawLoadOptions>, string]>([
    [{ requests: '0' }, 'Expected --requests to be an integer from 1 to 100000 but received 0.'],
    [{ api: 'chat' }, 'Expected --prompt, but it was not given.'],
    [{ api: 'chat', prompt: 'p' }, 'Expected --model, but it was not given.'],
    [{ maxTokens: '5' }, 'Expected --max-tokens together with --api chat or --api completions.'],
    [
      { api: 'chat', model: 'm', body: '{' },
      'Expected --model or --body but received both: --body is the whole request.',
    ],
    [
      { api: 'chat', model: 'm', prompt: 'p', method: 'PUT' },
      "Expected --method to be POST but received 'PUT': --api chat takes no other; leave it out.",
    ],
    [
      { method: 'GET', body: 'x' },
      "Expected --method to be one with a body but received 'GET': a GET request has none; leave --body out or use POST.",
    ],
    [{ seed: '5' }, 'Expected --seed together with --rate-per-second: nothing else is random.'],
    [{ api: 'nope' }, "Expected --api to be http, chat or completions but received 'nope'."],
    [{ header: ['secret'] }, "Expected --header to be 'NAME: VALUE' but received a text without a colon."],
  ])('refuse %j', (raw, message) => expect(() => parsed(raw)).toThrow(new UsageError(message)));

  it('refuse a URL that is none', () =>
    expect(() => parsed({}, 'foo')).toThrow(/^Expected the URL to be a URL of http/));

  it('refuse a URL with a password, and name the option that takes it', () =>
    expect(() => parsed({}, 'http://a:b@host/')).toThrow(
      'Expected the URL to hold no user or password: give them as authorization in --header.',
    ));
});
