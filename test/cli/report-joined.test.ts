/** `report` on a comparison of metrics and one of a program, measured under the same systems. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { interposerLibrary } from '../../lib/native/load.js';
import { jsonReport } from '../../lib/report/formats/json.js';
import type { ComparisonDocument } from '../../lib/results/document.js';
import { ofMetrics, ofServer } from '../unit/joined-fixtures.js';
import { command, commandIn, emptyFolder, parseComparison } from './command.js';

const layer = (delay: string) => ({
  kind: 'custom',
  name: 'layer',
  env: { LD_PRELOAD: interposerLibrary(), GVB_INTERPOSE: `cuInit=${delay}` },
  verify: [{ symbolOwner: { symbol: 'cuInit', matches: 'libgvb-interpose' } }],
});

describe('a comparison and a program, measured', () => {
  const folder = emptyFolder();
  const config = (name: string, delay: string): string => {
    const workloads = [{ name: 'nap', argv: ['sleep', '0.05'], warmup: 0, iterations: 1 }];
    writeFileSync(join(folder, name), JSON.stringify({ systems: ['native', layer(delay)], workloads }));
    return name;
  };
  const measure = async (...args: string[]) => {
    const { code } = await commandIn(folder, [...args, '--simulate', '--rounds', '1']);
    expect(code).toBe(0);
  };

  beforeAll(async () => {
    const [same, other] = [config('same.yaml', '+1us'), config('other.yaml', '+2us')];
    await measure('compare', 'START-002', '--tier', 'quick', '--config', same, '--output', 'metrics');
    await measure('exec', '--config', same, '--output', 'program');
    await measure('exec', '--config', other, '--output', 'elsewhere');
  });

  it('are one report, whose JSON is read again and gated', async () => {
    const joined = await commandIn(folder, ['report', 'metrics', 'program', '--json', 'joined.json', '--brief']);
    expect(joined).toMatchObject({ code: 0, stderr: '' });
    expect(joined.stdout).toMatch(/nap\/wall.*under layer/);
    const document: ComparisonDocument = parseComparison(readFileSync(join(folder, 'joined.json'), 'utf8'));
    expect(document.plan.systems).toEqual(['native', 'layer']);
    expect(document.plan.metrics).toEqual(expect.arrayContaining(['START-002', 'nap/wall']));
    const again = await commandIn(folder, ['report', 'joined.json', '--brief']);
    expect(again).toEqual(joined);
    writeFileSync(join(folder, 'limits.yaml'), 'metrics: { START-002: { limit: 1000000 }, nap/wall: { limit: 60 } }\n');
    const gated = await commandIn(folder, ['gate', 'joined.json', '--config', 'limits.yaml']);
    // Both limits are judged; one round supports no verdict.
    expect(gated.code).toBe(3);
    for (const limit of [
      /START-002 .*at most 1000000 ms .* within the limit/,
      /nap\/wall .*at most 60 s .* within the limit/,
    ])
      expect(gated.stdout).toMatch(limit);
  });

  it('are refused if the settings of a system differ', async () => {
    const { code, stdout, stderr } = await commandIn(folder, ['report', 'metrics', 'elsewhere']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^error: Expected documents in which layer.* is the same system but received .*\+1us.* in .*\+2us/,
    );
  });
});

describe('a joined report', () => {
  const save = (document: ComparisonDocument): string => {
    const file = join(emptyFolder(), 'document.json');
    writeFileSync(file, jsonReport(document).join(''));
    return file;
  };

  it('begins with the system for the purpose, and with what the server loses', async () => {
    const metrics = save(ofMetrics({ native: 1, 'hami-50': 1.3, 'mps-50': 1.02 }));
    const server = save(ofServer({ native: 1, 'hami-50': 0.8, 'mps-50': 0.999 }));
    const { code, stdout, stderr } = await command(['report', metrics, server]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const first = stdout.slice(0, stdout.indexOf('## Recommendations'));
    await expect(first).toMatchFileSnapshot(join(import.meta.dirname, '../golden/joined.md'));
  });
});
