/** Adds a metric to a copy of the checkout, as HACKING.md says. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunDocument } from '../../lib/results/document.js';
import { CheckoutCopy, fixture } from './checkout-copy.js';

const METRIC = 'lib/metrics/overhead/oh-900-toy.ts';
const ACCURACY_TEST = 'test/truth/pairs/toy.test.ts';

let copy: CheckoutCopy;
let changed: Awaited<ReturnType<CheckoutCopy['add']>>;

beforeAll(async () => {
  copy = new CheckoutCopy('alloc_us=20');
  changed = await copy.add(() => {
    copy.write(METRIC, fixture('oh-900-toy.ts'));
    copy.write(ACCURACY_TEST, fixture('toy.test.ts'));
  });
});

describe('adding a metric', () => {
  it('touches its file and its test; everything else is generated', () => {
    expect(changed).toEqual({
      byHand: [METRIC, ACCURACY_TEST].sort(),
      generated: [
        'docs/details.md',
        'docs/metrics.md',
        'lib/metrics/functions.ts',
        'lib/metrics/registry.ts',
        'schema/comparison-document.schema.json',
        'schema/run-document.schema.json',
      ],
    });
  });

  it('leaves the types of the whole checkout valid', async () => {
    expect(await copy.typeErrors()).toBe('');
  });

  it('passes the tests of what files and lists may have, and of numbers in texts', async () => {
    const general = ['comments', 'exports', 'imports', 'metrics/purposes', 'run/budget', 'run/select'];
    await copy.pass(...general.map((name) => `test/unit/${name}.test.ts`));
  });

  it('lists, documents, measures and draws it, and exports its function', async () => {
    expect(await copy.command('list')).toMatch(/^OH-900 .*Toy Allocation Latency/m);
    expect(copy.text('docs/metrics.md')).toMatch(/\*\*OH-900\*\* Toy Allocation Latency/);
    expect(copy.text('docs/details.md')).toMatch(/`rows\[\]\.valueUs`.*Median time of an allocation \(us\)/);
    const library = "console.log(typeof (await import('./dist/index.js')).measureToy)";
    expect(await copy.node('--input-type=module', '-e', library)).toBe('function\n');
    const text = await copy.command('run', 'OH-900', '--simulate', '--json', '-', '--html', 'toy.html');
    const { metrics } = JSON.parse(text) as RunDocument;
    expect(metrics).toHaveLength(1);
    expect(metrics[0]).toMatchObject({ id: 'OH-900', status: 'ok', details: { rows: [{}, {}, {}] } });
    // No call takes less than the simulated driver spins for it.
    expect(metrics[0]?.value).toBeGreaterThanOrEqual(20);
    expect(copy.text('toy.html')).toContain('Toy latency against live blocks');
  });
});
