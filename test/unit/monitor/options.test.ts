import { describe, expect, it } from 'vitest';
import { parseMonitorOptions } from '../../../lib/cli/commands/monitor.js';
import { durationText, parseDuration } from '../../../lib/config/duration.js';
import { type MonitorOptions, resolveMonitorOptions } from '../../../lib/monitor/options.js';

const rules = { what: '--interval', shortestMs: 10, longestMs: 3_600_000 };

describe('a duration', () => {
  it.each([
    ['100ms', 100],
    ['10 ms', 10],
    ['2s', 2_000],
    ['1.5s', 1_500],
    ['1min', 60_000],
    ['1h', 3_600_000],
  ])('%s is %d ms', (text, ms) => expect(parseDuration(text, rules)).toBe(ms));

  it.each(['', 'soon', '-1s', '1e3ms', '9ms', '61min', '1m', '0s', '1s 2s', 'NaN ms', '0x10s'])('is not %j', (text) =>
    expect(() => parseDuration(text, rules)).toThrow(
      /^Expected --interval to be a duration with its unit, such as 100ms or 2s, from 10 ms to 1 h but received /,
    ),
  );

  it('needs a unit, because a bare number could be seconds or milliseconds', () =>
    expect(() => parseDuration('100', rules)).toThrow(/but received 100: add a unit, ms, s, min or h\.$/));

  it.each([
    [100, '100 ms'],
    [1_500, '1500 ms'],
    [2_000, '2 s'],
    [90_000, '90 s'],
    [300_000, '5 min'],
    [7_200_000, '2 h'],
  ])('of %d ms is shown as %s', (ms, text) => expect(durationText(ms)).toBe(text));
});

describe('the options of a monitor', () => {
  it('have defaults', () =>
    expect(resolveMonitorOptions()).toMatchObject({ intervalMs: 100, devices: null, csv: null, simulate: false }));

  it('accept one device or several', () => {
    expect(resolveMonitorOptions({ device: 0 }).devices).toEqual(['0']);
    expect(resolveMonitorOptions({ device: [1, 'GPU-ab'] }).devices).toEqual(['1', 'GPU-ab']);
  });

  it.each<[string, object, string, typeof TypeError | typeof RangeError]>([
    ['an interval that is too short', { intervalMs: 9 }, 'Expected intervalMs to be an integer from 10 to 3600000 but received 9.', RangeError],
    ['half a millisecond', { intervalMs: 10.5 }, 'Expected intervalMs to be an integer from 10 to 3600000 but received 10.5.', RangeError],
    ['text for an interval', { intervalMs: '100' }, 'Expected intervalMs to be an integer from 10 to 3600000 but received \'100\'.', TypeError],
    ['no device', { device: [] }, 'Expected device to be an NVML index or a UUID, or a list of them but received an array.', TypeError],
    ['a negative device', { device: -1 }, 'Expected device to be an NVML index or a UUID, or a list of them but received -1.', TypeError],
    ['an empty path', { csv: '' }, 'Expected csv to be the path of a file but received \'\'.', RangeError],
    ['a number as a path', { csv: 3 }, 'Expected csv to be the path of a file but received 3.', TypeError],
    ['text as a flag', { simulate: 'yes' }, 'Expected simulate to be true or false but received \'yes\'.', TypeError],
    ['text as a callback', { onSample: 'x' }, 'Expected onSample to be a function but received \'x\'.', TypeError],
    ['an unknown option', { interval: 100 }, "Expected options out of device, intervalMs, csv, simulate, onSample, onMissing, onError but received 'interval': did you mean intervalMs?", TypeError],
  ])('refuse %s', (_, options, message, Kind) => {
    const resolve = () => resolveMonitorOptions(options as MonitorOptions);
    expect(resolve).toThrow(Kind);
    expect(resolve).toThrow(message);
  }); // prettier-ignore

  it('of the command have units, and one target per output', () => {
    const raw = { interval: '1s', duration: '5min', csv: 'x.csv', device: ['0', '1'] };
    expect(parseMonitorOptions(raw)).toEqual({
      ...{ intervalMs: 1_000, durationMs: 300_000, csv: 'x.csv', json: false, devices: ['0', '1'], simulate: false },
    });
    expect(() => parseMonitorOptions({ interval: '5ms' })).toThrow(/^Expected --interval to be a duration/);
    expect(() => parseMonitorOptions({ interval: '1s', duration: '25h' })).not.toThrow();
    expect(() => parseMonitorOptions({ interval: '1s', duration: '600h' })).toThrow(/^Expected --duration .* to 576 h/);
    expect(() => parseMonitorOptions({ interval: '1s', json: true, csv: '-' })).toThrow(
      /both would go to standard output/,
    );
  });
});
