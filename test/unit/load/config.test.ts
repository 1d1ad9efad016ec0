import { describe, expect, it } from 'vitest';
import { Place } from '../../../lib/config/setting-place.js';
import { isMap, type RawMap } from '../../../lib/config/raw.js';
import { readYaml } from '../../../lib/config/yaml.js';
import { numbered } from '../../../lib/load/load-body.js';
import { readLoad } from '../../../lib/load/load-config.js';
import { runLoad } from '../../../lib/load-settings.js';
import type { LoadSettings } from '../../../lib/settings-types.js';

const URL_TEXT = 'http://127.0.0.1:8000/v1/chat/completions';
const http = { url: URL_TEXT, requests: '10', concurrency: '2' };
const chat = { ...http, api: 'chat', model: 'm', prompt: 'Hello' };
const read = (raw: RawMap) => readLoad(new Place(raw, 'load'));

describe('the settings of a load', () => {
  it('have defaults', () =>
    expect(read(http)).toEqual({
      ...{ api: 'http', url: new URL(URL_TEXT), method: 'GET', headers: {}, body: null, requests: 10, warmup: 3 },
      ...{ arrivals: { loop: 'closed', concurrency: 2 }, timeoutMs: 60_000 },
    }));

  it('of an open loop have a rate and a seed', () => {
    const { concurrency: _, ...open } = http;
    const arrivals = { loop: 'open', ratePerSecond: 2.5, seed: 1 };
    expect(read({ ...open, ratePerSecond: '2.5' }).arrivals).toEqual(arrivals);
    expect(read({ ...open, ratePerSecond: '2.5', seed: '4294967295' }).arrivals).toEqual({
      ...arrivals,
      seed: 2 ** 32 - 1,
    });
  });

  it('make the request of a chat', () => {
    const { body, method, headers } = read(chat);
    expect(JSON.parse(body ?? '')).toEqual({
      ...{ model: 'm', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 128 },
      ...{ stream: true, stream_options: { include_usage: true } },
    });
    expect({ method, headers }).toEqual({
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
    });
  });

  it('make the request of completions', () =>
    expect(JSON.parse(read({ ...chat, api: 'completions', maxTokens: '7' }).body ?? '')).toMatchObject({
      ...{ model: 'm', prompt: 'Hello', max_tokens: 7, stream: true },
    }));

  it('accept a complete body, which is streamed', () => {
    const body = { messages: [], stream_options: { include_usage: false }, temperature: 0, stream: true };
    expect(JSON.parse(read({ ...http, api: 'chat', body: JSON.stringify(body) }).body ?? '')).toEqual(body);
    expect(JSON.parse(read({ ...http, api: 'chat', body: '{"messages": []}' }).body ?? '')).toMatchObject({
      stream: true,
    });
  });

  it('accept any text for plain HTTP, with its type', () => {
    expect(read({ ...http, body: 'x' })).toMatchObject({
      ...{ method: 'POST', body: 'x', headers: { 'content-type': 'text/plain; charset=utf-8' } },
    });
    expect(read({ ...http, body: '{}' }).headers).toEqual({ 'content-type': 'application/json' });
    expect(read({ ...http, body: '{}', headers: { 'Content-Type': 'a/b', 'X-Key': 'é' } }).headers).toEqual({
      ...{ 'content-type': 'a/b', 'x-key': 'é' },
    });
  });

  it('number the requests on demand', () => {
    expect(numbered(read({ ...chat, prompt: '{request} and {request}' }).body ?? '', -3)).toContain('"-3 and -3"');
    // The number is inserted as it is, $ and all.
    expect(numbered('$& {request} $1', 4)).toBe('$& 4 $1');
  });
});

describe('a load is refused', () => {
  const { concurrency: _, ...rateless } = http;
  it.each<[string, RawMap, string]>([
    ['an unknown key', { ...http, rate: '3' }, "Expected a key of load but received 'rate'"],
    ['a misspelled key', { ...http, concurency: '3' }, 'did you mean concurrency?'],
    ['__proto__', JSON.parse('{"__proto__": "x"}') as RawMap, "Expected a key of load but received '__proto__'"],
    ['no URL', { requests: '1', concurrency: '1' }, 'Expected load to have url.'],
    ['a file', { ...http, url: 'file:///etc/passwd' }, "Expected url of load to be a URL of http or https such as http://127.0.0.1:8000/v1/chat/completions but received 'file:///etc/passwd'."],
    ['a path', { ...http, url: '/v1' }, 'Expected url of load to be a URL of http or https'],
    ['a list of URLs', { ...http, url: ['http://a'] }, 'Expected url of load to be text but received a list.'],
    ['a password in the URL', { ...http, url: 'http://me:secret@host/' }, 'Expected url of load to hold no user or password: give them as authorization in headers.'],
    ['an unknown API', { ...http, api: 'chats' }, "Expected api of load to be http, chat or completions but received 'chats': did you mean chat?"],
    ['no number of requests', { url: URL_TEXT, concurrency: '1' }, 'Expected load to have requests: an integer from 1 to 100000.'],
    ['no request', { ...http, requests: '0' }, 'Expected requests of load to be an integer from 1 to 100000 but received 0.'],
    ['too many requests', { ...http, requests: '1e9' }, "an integer from 1 to 100000 but received '1e9'"],
    ['both loops', { ...http, ratePerSecond: '1' }, 'to have either concurrency or ratePerSecond but received both'],
    ['neither loop', rateless, 'to have either concurrency or ratePerSecond but received neither'],
    ['no concurrency', { ...http, concurrency: '0' }, 'Expected concurrency of load to be an integer from 1 to 10000 but received 0.'],
    ['a rate of 0', { ...rateless, ratePerSecond: '0' }, 'Expected ratePerSecond of load to be a number from 0.001 to 100000 but received 0.'],
    ['an infinite rate', { ...rateless, ratePerSecond: 'Infinity' }, "a number from 0.001 to 100000 but received 'Infinity'"],
    ['a rate that is none', { ...rateless, ratePerSecond: 'NaN' }, "a number from 0.001 to 100000 but received 'NaN'"],
    ['a seed of a closed loop', { ...http, seed: '1' }, 'Expected seed of load together with ratePerSecond: nothing else is random.'],
    ['a seed that is too large', { ...rateless, ratePerSecond: '1', seed: '4294967296' }, 'an integer from 0 to 4294967295'],
    ['no time', { ...http, timeout: '0' }, 'Expected timeout of load to be a number of seconds from 0.001 to 86400 but received 0.'],
    ['an unknown method', { ...http, method: 'GETS' }, 'Expected method of load to be GET, POST, PUT, PATCH or DELETE'],
    ['a method for a chat', { ...chat, method: 'PUT' }, "Expected method of load to be POST but received 'PUT': api: chat takes no other"],
    ['a body of GET', { ...http, method: 'GET', body: 'x' }, 'a GET request has none; leave body out or use POST.'],
    ['a prompt for plain HTTP', { ...http, prompt: 'x' }, 'Expected prompt of load together with api: chat or api: completions.'],
    ['a chat without a prompt', { ...http, api: 'chat', model: 'm' }, 'Expected load to have prompt.'],
    ['a chat without a model', { ...http, api: 'chat', prompt: 'x' }, 'Expected load to have model.'],
    ['a prompt and a body', { ...chat, body: '{}' }, 'Expected model of load or body but received both: body is the whole request.'],
    ['a body that is no JSON', { ...http, api: 'chat', body: '{' }, 'Expected body of load to be the JSON object of a request but received \'{\': it is no JSON'],
    ['a body that is a list', { ...http, api: 'chat', body: '[]' }, "but received '[]': it is no object."],
    ['a body that is null', { ...http, api: 'chat', body: 'null' }, "but received 'null': it is no object."],
    ['a body that does not stream', { ...http, api: 'chat', body: '{"stream": false}' }, 'stream is not true; leave it out, it is set.'],
    ['several answers to a request', { ...http, api: 'chat', body: '{"n": 2}' }, 'n is not 1: the tokens of several answers would be mixed.'],
    ['a header with a line end', { ...http, headers: { 'x-a': 'b\r\nhost: c' } }, 'Expected headers of load to be headers of HTTP: Invalid character in header content ["x-a"].'],
    ['a header whose name is none', { ...http, headers: { 'x a': 'b' } }, 'Expected headers of load to be headers of HTTP: Header name must be a valid HTTP token ["x a"].'],
    ['a header of the client', { ...http, headers: { 'Content-Length': '3' } }, 'content-length is set by the client itself.'],
    ['a header twice', { ...http, headers: { 'X-A': '1', 'x-a': '2' } }, 'Expected headers of load to be a map of different names but received a map: x-a is there twice.'],
    ['a header that is a list', { ...http, headers: { 'x-a': ['1'] } }, 'x-a is not text.'],
    ['headers that are text', { ...http, headers: 'x-a: 1' }, 'Expected headers of load to be a map of keys to values'],
  ])('with %s', (_, raw, message) => expect(() => read(raw)).toThrow(message)); // prettier-ignore

  it('without showing a secret of a header', () =>
    expect(() => read({ ...http, headers: { authorization: 'Bearer sk-12\n' } })).not.toThrow(/sk-12/));

  it('with the place in its file', () => {
    const source = readYaml('load:\n  url: http://a/\n  requests: many\n  concurrency: 1\n', 'w.yaml');
    const load = isMap(source.value) && isMap(source.value.load ?? null) ? (source.value.load as RawMap) : {};
    expect(() => source.at(['load'], () => read(load))).toThrow(
      "w.yaml:3:13: Expected requests of load to be an integer from 1 to 100000 but received 'many'.",
    );
  });

  it('by runLoad too', async () => {
    const load = (settings: unknown) => runLoad(settings as LoadSettings);
    await expect(load({ url: URL_TEXT, requests: 0, concurrency: 1 })).rejects.toThrow(
      'Expected requests of the load to be an integer from 1 to 100000 but received 0.',
    );
    await expect(load({ url: URL_TEXT, requests: 1, rate: 1 })).rejects.toThrow(/^Expected a key of the load/);
    await expect(load(null)).rejects.toThrow(TypeError);
    await expect(load('http://a')).rejects.toThrow(/^Expected a load to be an object with url and requests/);
  });
});
