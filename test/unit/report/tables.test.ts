/** The formats that other programs read: CSV, OpenMetrics and Bencher's. */
import { spawnSync } from 'node:child_process';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { baseUnit } from '../../../lib/report/text/base-units.js';
import { bencherReport } from '../../../lib/report/formats/bencher.js';
import { csvReport } from '../../../lib/report/formats/csv.js';
import { openMetricsReport } from '../../../lib/report/formats/openmetrics.js';
import { plain } from '../../../lib/results/text/plain.js';
import { viewOf } from '../../../lib/results/view.js';
import { parseOpenMetrics } from '../openmetrics.js';
import { everyKind, measured } from './fixtures.js';
import { documentOf, hostileTexts } from './hostile.js';
import { runDocument } from '../run/fixtures.js';

const view = viewOf(everyKind());
const records = (csv: string) => parse(csv, { columns: true }) as Record<string, string>[];

describe('CSV', () => {
  const rows = records(csvReport(view));

  it('has one row per metric, system and round', () => {
    expect(rows).toHaveLength(3 * 3 * 8);
    expect(rows.filter(({ metric, system }) => metric === 'OH-001' && system === 'mps').map(({ round }) => round)).toEqual(['1', '2', '3']); // prettier-ignore
  });

  it('does not round numbers, and has empty fields if none was measured', () => {
    const of = (metric: string, system: string) => rows.find((row) => row.metric === metric && row.system === system);
    expect(Number(of('OH-005', 'mps')?.value)).toBeLessThan(0);
    expect(of('OH-005', 'mps')?.value).toMatch(/^-0\.\d+$/);
    expect(of('OH-004', 'hami-core')).toMatchObject({ status: 'failed', value: '', p50: '', ci95_low: '' });
  });

  it('contains no spreadsheet formula, and every row has all columns', () => {
    fc.assert(
      fc.property(hostileTexts, (texts) => {
        const found = records(csvReport(viewOf(documentOf(texts))));
        expect(found).toHaveLength(3 * 3 * 8);
        for (const cell of found.flatMap((row) => Object.values(row)))
          if (!/^-?[\d.e+-]+$/.test(cell)) expect(cell).not.toMatch(/^[=+\-@\t\r＝＋－＠]/);
      }),
      { numRuns: 15 },
    );
  });
});

describe('OpenMetrics', () => {
  const text = openMetricsReport(view);
  const families = parseOpenMetrics(text);

  it('has base units', () => {
    const family = families.get('gpu_virt_bench_oh_001_kernel_launch_latency_seconds');
    expect(family).toMatchObject({ type: 'gauge', unit: 'seconds' });
    expect(family?.samples.map(({ labels, value }) => [labels.system, value])).toEqual([
      ['native', 5.025e-6],
      ['hami-core', 6.03e-6],
      ['mps', 4.02e-6],
    ]);
  });

  it('has the state but no sample of a failed metric', () => {
    expect(families.get('gpu_virt_bench_oh_004_context_creation_overhead_seconds')?.samples).toHaveLength(2);
    const failed = families
      .get('gpu_virt_bench_rounds')
      ?.samples.find(({ labels: { metric, system, status } }) => `${metric} ${system} ${status}` === 'OH-004 hami-core failed'); // prettier-ignore
    expect(failed?.value).toBe(3);
  });

  it('has ratios and verdicts', () => {
    expect(families.get('gpu_virt_bench_effect_ratio')?.samples[0]).toMatchObject({
      labels: { metric: 'OH-001', system: 'hami-core', baseline: 'native' },
    });
    const verdicts = families.get('gpu_virt_bench_verdict')?.samples.map(({ labels }) => labels.verdict);
    expect(new Set(verdicts)).toEqual(new Set(['slower', 'faster', 'same', 'invalid']));
  });

  it('is read by a strict parser for any text in a document', () => {
    fc.assert(
      fc.property(hostileTexts, (texts) => {
        const document = documentOf(texts);
        const found = parseOpenMetrics(openMetricsReport(viewOf(document)));
        expect(found.get('gpu_virt_bench_completed')?.samples[0]?.labels.gpu).toBe(
          plain(document.systems[0]?.[0]?.gpu[0]?.name ?? ''),
        );
      }),
      { numRuns: 15 },
    );
  });

  it('is complete for a run without metrics', () => {
    expect(parseOpenMetrics(openMetricsReport(viewOf(runDocument()))).has('gpu_virt_bench_completed')).toBe(true);
  });

  // The number of families in each text of a JSON list.
  const reference =
    'import json, sys\nfrom prometheus_client.openmetrics.parser import text_string_to_metric_families as parse\n' +
    'print(json.dumps([len(list(parse(text))) for text in json.load(sys.stdin)]))';
  const python = (texts: readonly string[]) =>
    spawnSync('/usr/bin/python3', ['-c', reference], { input: JSON.stringify(texts), encoding: 'utf8' });
  const hasReference = python([]).status === 0;
  if (!hasReference)
    console.warn("SKIPPED: Prometheus' own parser (python3-prometheus-client) is not here; .ci/run installs it.");

  it.skipIf(!hasReference)('is read by the parser of Prometheus', () => {
    const hostile = fc.sample(hostileTexts, 20).map((texts) => openMetricsReport(viewOf(documentOf(texts))));
    const { stdout, stderr } = python([text, ...hostile]);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual([text, ...hostile].map((each) => parseOpenMetrics(each).size));
  });
});

describe("Bencher's format", () => {
  const benchmarks = JSON.parse(bencherReport(view));

  it('has times as latency in nanoseconds', () => {
    expect(benchmarks['native/OH-001 Kernel Launch Latency'].latency.value).toBe(5025);
    const { lower_value: low, upper_value: high } = benchmarks['mps/OH-001 Kernel Launch Latency'].latency;
    expect(low).toBeLessThan(4020);
    expect(high).toBeGreaterThan(4020);
  });

  it('leaves out metrics without a number', () => {
    expect(Object.keys(benchmarks).filter((name) => name.includes('OH-004'))).toHaveLength(2);
    expect(Object.keys(benchmarks).filter((name) => name.includes('OH-010'))).toEqual([]);
  });

  it('is JSON of numbers for any text in a document', () => {
    fc.assert(
      fc.property(hostileTexts, (texts) => {
        const found = JSON.parse(bencherReport(viewOf(documentOf(texts)))) as Record<string, Record<string, object>>;
        for (const measures of Object.values(found))
          for (const [slug, measure] of Object.entries(measures)) {
            expect(slug).toMatch(/^[a-z0-9-]+$/);
            expect(Object.values(measure).every(Number.isFinite)).toBe(true);
          }
      }),
      { numRuns: 15 },
    );
  });
});

describe('base units', () => {
  it.each([
    ['us', 'seconds', 1e-6],
    ['%', 'ratio', 0.01],
    ['GB/s', 'bytes_per_second', 1e9],
    ['tokens/s', 'tokens_per_s', 1],
    ['µ<>', 'unknown', 1],
    ['constructor', 'constructor', 1],
  ])('%s', (unit, name, factor) => expect(baseUnit(unit)).toEqual({ name, factor }));

  it('have no digits from binary rounding', () => {
    const run = runDocument({ metrics: [{ ...measured('OH-001', 1, 0), value: 4.515, ci95: null }] });
    expect(openMetricsReport(viewOf(run))).toMatch(/latency_seconds\{[^}]*\} 0\.000004515\n/);
  });
});
