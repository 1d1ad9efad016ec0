/** A run of every metric. */
import { describe, expect, it } from 'vitest';
import { metrics } from '../../../lib/metrics/registry.js';
import { byMetricId } from '../../../lib/results/metric-order.js';
import { command, parseDocument } from '../../cli/command.js';
import { onOneProcessor } from '../../processors.js';
import { codeOf, isDisturbed } from '../../undisturbed.js';

/** Short call costs. */
const sim = 'init_ms=8,context_ms=8,alloc_us=5,free_us=5,vmm_us=4,host_alloc_us=5,switch_us=20,l2_mib=8';

describe.skipIf(onOneProcessor('a run of every metric'))('run on the simulated GPU', () => {
  it('prints a valid document with every metric on stdout, and nothing else', async () => {
    const { code, stdout, stderr } = await command(['run', 'all', '--simulate', '--json', '-', '--seed', '7'], {}, sim);
    const document = parseDocument(stdout);
    expect(document.metrics.map(({ id }) => id)).toEqual(metrics.map(({ id }) => id).sort(byMetricId));
    // A busy machine may disturb one of so many metrics, which then reports it.
    const others = document.metrics.filter((metric) => metric.status !== 'ok' && !isDisturbed(metric));
    const said = others.map(({ id, status, reason }) => `${id} ${status}: ${reason}`);
    expect(said).toContain('OH-008 unsupported: layer has no compute limit');
    expect(
      said.filter(
        (text) =>
          !/ unsupported: (.*\blimit\b|needs a native arm|several GPUs are needed|the host has too little memory)/.test(
            text,
          ),
      ),
    ).toEqual([]);
    expect(document).toMatchObject({ completed: true, plan: { seed: 7, tier: 'quick', device: 0 } });
    expect([...document.plan.metrics].sort(byMetricId)).toEqual(document.metrics.map(({ id }) => id));
    expect(document.gpu).toEqual([expect.objectContaining({ simulated: true })]);
    expect(document.system).toMatchObject({ name: 'environment', kind: 'environment' });
    expect(document.provenance.length).toBeGreaterThan(25);
    expect(stderr).toMatch(/^Plan: .*seed 7\), about \d+ (s|min)\b.*$/m);
    expect(stderr).toMatch(/^Device 0: /m);
    expect(code).toBe(codeOf(document));
  });
});
