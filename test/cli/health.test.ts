/** Health checks and the sampler on simulated cards with problems. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownRegion } from '../temporary.js';
import { command, emptyFolder, parseComparison, parseDocument, systemOnCard } from './command.js';

const base = ['--simulate', '--tier', 'quick', '--seed', '1'];
const quick = 'init_ms=1,context_ms=1';
const run = (sim: string, ...args: string[]) =>
  command(['run', 'OH-002', ...base, '--iterations', '20', ...args], {}, `${quick},${sim}`);

describe('a card that is too hot', () => {
  it('is measured, with a warning', async () => {
    const { code, stdout, stderr } = await run('temperature_c=85', '--json', '-');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: GPU temperature: 85 °C, expected below 80 °C$/m);
    const { health, metrics } = parseDocument(stdout);
    expect(health.before.find(({ name }) => name === 'GPU temperature')?.passed).toBe(false);
    expect(metrics[0]?.status).toBe('ok');
  });

  it('is refused by --strict in one line, by run and by compare', async () => {
    const systems = ['--system', 'native:name=a', '--system', 'native:name=b', '--output', join(emptyFolder(), 'out')];
    const outcomes = [
      await run('temperature_c=85', '--strict'),
      await command(['compare', 'OH-002', ...base, ...systems, '--strict'], {}, `${quick},temperature_c=85`),
    ];
    for (const { code, stdout, stderr } of outcomes) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^error: The machine is not idle and healthy \(--strict\): GPU temperature: 85 °C/m);
    }
  });
});

describe('a card throttled during the measurement', () => {
  it('is reported once, with the metrics it disturbed', async () => {
    const { code, stdout, stderr } = await run('event_reasons=4', '--json', '-');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: clocks held back: OH-002 \(power cap\)$/m);
    const { health } = parseDocument(stdout);
    expect(health.after.find(({ name }) => name === 'no slowdown while sampled')?.passed).toBe(false);
  });
});

describe('the sampler', () => {
  it("records the card while a comparison runs, regardless of the systems' GVB_SIM", async () => {
    // One region for both: the coordinator watches it all the time and must not keep its settings in place.
    const region = ownRegion('watched');
    const systems = [
      '--system',
      'native',
      '--system',
      systemOnCard('other', 'alloc_us=60', region),
      '--output',
      join(emptyFolder(), 'out'),
    ];
    const { code, stdout } = await command(
      ['compare', 'OH-002', ...base, ...systems, '--rounds', '2', '--iterations', '400', '--json', '-'],
      { GVB_SIM: `region=${region},alloc_us=40` },
    );
    expect(code).toBe(0);
    const { systems: documents } = parseComparison(stdout);
    const shortest = documents.map((rounds) => Math.min(...rounds.map(({ metrics }) => metrics[0]?.value ?? 0)));
    expect(shortest[0]).toBeGreaterThanOrEqual(40);
    expect(shortest[1]).toBeGreaterThanOrEqual(60);
    for (const { sampler, coordinatorCpuPercent } of documents.flat()) {
      expect(coordinatorCpuPercent).toBeGreaterThan(0);
      expect(sampler).toMatchObject({ source: 'nvml', intervalMs: 100 });
      expect(sampler?.timeMs.length).toBeGreaterThan(1);
      expect(new Set(sampler?.temperatureC)).toEqual(new Set([35]));
    }
    // A worker's context uses memory, which shows that the card was sampled during use.
    const used = documents.flat().flatMap(({ sampler }) => sampler?.usedBytes ?? []);
    expect(Math.max(...used.map((bytes) => bytes ?? 0))).toBeGreaterThan(400 * 2 ** 20);
  });
});
