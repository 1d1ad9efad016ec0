/** Adds a metric, a system, a report format, a report section and a workload metric to one copy of the checkout, as HACKING.md says. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { ComparisonDocument, RunDocument } from '../../lib/results/document.js';
import { CheckoutCopy, fixture } from './checkout-copy.js';

const METRIC = {
  byHand: ['lib/metrics/overhead/oh-900-toy.ts', 'test/truth/pairs/toy.test.ts'],
  generated: [
    'docs/details.md',
    'docs/metrics.md',
    'lib/metrics/all-functions.ts',
    'lib/metrics/functions.ts',
    'lib/metrics/in-worker.ts',
    'lib/metrics/registry.ts',
    'schema/comparison-document.schema.json',
    'schema/run-document.schema.json',
  ],
};
const SYSTEM = {
  byHand: ['lib/systems/kinds/toy/toy-system.ts', 'lib/systems/kinds/toy/toy.ts', 'test/unit/systems/toy.test.ts'],
  generated: [
    'docs/systems.md',
    'lib/cli/options/system-usage.ts',
    'lib/settings-types.ts',
    'lib/systems/registry.ts',
    'schema/config.schema.json',
  ],
};
const FORMAT = {
  byHand: ['lib/report/formats.ts', 'lib/report/formats/toy.ts', 'test/unit/report/toy.test.ts'],
  generated: ['docs/reports.md'],
};
const SECTION = {
  byHand: ['lib/report/sections.ts', 'lib/report/tables/toy-table.ts', 'test/unit/report/toy-table.test.ts'],
  generated: ['examples/report.html', 'examples/report.md'],
};
const WORKLOAD_METRIC = {
  byHand: ['lib/workloads/metrics/program-metrics.ts', 'test/unit/workloads/toy.test.ts'],
  generated: ['docs/exec.md'],
};
const parts = [METRIC, SYSTEM, FORMAT, SECTION, WORKLOAD_METRIC];

const FORMAT_ENTRY = `  toy: {
    help: 'a line per metric and system',
    more: ', for toys',
    load: async () => (await import('./formats/toy.js')).toyReport,
  },
`;
const WORKLOAD_METRIC_ENTRY = `  'toy-processes': {
    name: 'processes',
    unit: 'processes',
    direction: 'lower',
    question: 'How many processes does the program have?',
    about: 'all processes of the program that were seen',
    delta: { relative: 0.05 },
    inScene: 'beside',
    of: ({ watched }) => ({ value: watched.pids.size }),
  },
`;

function addMetric(copy: CheckoutCopy): void {
  copy.write('lib/metrics/overhead/oh-900-toy.ts', fixture('oh-900-toy.ts'));
  copy.write('test/truth/pairs/toy.test.ts', fixture('toy.test.ts'));
}

function addSystem(copy: CheckoutCopy): void {
  copy.write('lib/systems/kinds/toy/toy-system.ts', fixture('toy-system.ts'));
  copy.write('lib/systems/kinds/toy/toy.ts', fixture('toy-kind.ts'));
  copy.write('test/unit/systems/toy.test.ts', fixture('toy-system.test.ts'));
}

function addFormat(copy: CheckoutCopy): void {
  copy.write('lib/report/formats/toy.ts', fixture('toy-format.ts'));
  copy.write('test/unit/report/toy.test.ts', fixture('toy-format.test.ts'));
  copy.insertBefore('lib/report/formats.ts', '} satisfies Record<string, ReportFormat>;', FORMAT_ENTRY);
}

function addSection(copy: CheckoutCopy): void {
  copy.write('lib/report/tables/toy-table.ts', fixture('toy-section.ts'));
  copy.write('test/unit/report/toy-table.test.ts', fixture('toy-section.test.ts'));
  const list = 'lib/report/sections.ts';
  copy.insertBefore(
    list,
    "import { spreadTable, tailTable } from './text/spread.js';",
    "import { toyTable } from './tables/toy-table.js';\n",
  );
  copy.insertBefore(
    list,
    "  { id: 'not-measured', title: 'Not measured' },",
    "  { id: 'toy', title: 'Toys', note: 'Counts.', table: toyTable },\n",
  );
}

function addWorkloadMetric(copy: CheckoutCopy): void {
  copy.write('test/unit/workloads/toy.test.ts', fixture('toy-workload-metric.test.ts'));
  const list = 'lib/workloads/metrics/program-metrics.ts';
  copy.insertBefore(list, '} satisfies Record<string, ProgramMetric>;', WORKLOAD_METRIC_ENTRY);
}

let copy: CheckoutCopy;
let changed: Awaited<ReturnType<CheckoutCopy['add']>>;

beforeAll(async () => {
  copy = new CheckoutCopy('init_ms=4,context_ms=4,alloc_us=20');
  changed = await copy.add(() => {
    addMetric(copy);
    addSystem(copy);
    addFormat(copy);
    addSection(copy);
    addWorkloadMetric(copy);
  });
});

describe('adding a metric, a system, a report format, a report section and a workload metric', () => {
  it('touches at most three files each; everything else is generated', () => {
    expect(changed).toEqual({
      byHand: parts.flatMap(({ byHand }) => byHand).sort(),
      generated: parts.flatMap(({ generated }) => generated).sort(),
    });
    for (const { byHand } of parts) expect(byHand.length).toBeLessThanOrEqual(3);
  });

  it('leaves the types of the whole checkout valid, and adds to the public ones', async () => {
    copy.write('test/types/toy.ts', fixture('toy-public-types.ts'));
    expect(await copy.typeErrors()).toBe('');
  });

  it('passes the tests that are added, and those of what files and lists may have', async () => {
    const added = parts.flatMap(({ byHand }) => byHand).filter((path) => path.startsWith('test/unit/'));
    const general = [
      'comments',
      'exports',
      'imports',
      'metrics/purposes',
      'run/budget',
      'run/select',
      'settings-schema',
      'system-kinds',
      'systems/parse',
      'report/markdown',
    ];
    await copy.pass(...added, ...general.map((name) => `test/unit/${name}.test.ts`));
  });

  it('lists, documents, measures and draws the metric, and exports its function', async () => {
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

  it('adds the system to help, schema and docs, and measures under it', async () => {
    expect(copy.text('lib/cli/options/system-usage.ts')).toContain('toy:greeting=WORD (default hello)');
    expect(copy.text('schema/config.schema.json')).toContain('"What the toy says."');
    expect(copy.text('docs/systems.md')).toContain('| `toy` | the bare driver with a greeting | `name`, `greeting` |');
    const systems = ['--system', 'native', '--system', 'toy:greeting=hi'];
    await copy.command('compare', 'OH-002', ...systems, '--tier', 'quick', '--simulate', '--json', 'compare.json');
    const toys = (JSON.parse(copy.text('compare.json')) as ComparisonDocument).systems[1];
    expect(toys).toHaveLength(2);
    for (const { system, metrics } of toys ?? []) {
      expect(system).toMatchObject({ kind: 'toy', settings: { TOY_GREETING: 'hi' } });
      expect(metrics).toMatchObject([{ id: 'OH-002', status: 'ok' }]);
    }
  });

  it('adds the format to help and docs, and renders in it', async () => {
    expect(await copy.command('report', '--help')).toMatch(/--toy <file>\s+a line per metric/);
    expect(copy.text('docs/reports.md')).toContain('| `toy` | `--toy FILE` | a line per metric and system, for toys |');
    const text = await copy.command('report', 'test/golden/run.json', '--format', 'toy');
    expect(text).toMatch(/^OH-001 \S+: \d/m);
    await copy.command('report', 'test/golden/run.json', '--toy', 'run.toy');
    expect(copy.text('run.toy')).toBe(text);
  });

  it('shows the section in its place', async () => {
    await copy.command('report', 'test/golden/comparison.json', '--markdown', 'toy.md', '--html', 'toy.html');
    const headings = /^## (?:Toys|Not measured)$|<h2.*?>(?:Toys|Not measured)<\/h2>/gm;
    expect(copy.text('toy.md').match(headings)).toEqual(['## Toys', '## Not measured']);
    expect(copy.text('toy.md')).toMatch(/^## Toys\n\nCounts\.\n\n\| System \| Metrics \|$/m);
    expect(copy.text('toy.html').match(headings)).toEqual(
      [/>Toys</, />Not measured</].map((each) => expect.stringMatching(each)),
    );
    expect(copy.text('toy.html')).toMatch(/Counts\..*<table/s);
  });

  it('adds the workload metric to docs, and measures it of a program', async () => {
    const row = '| `NAME/toy-processes` | processes | all processes of the program that were seen |';
    expect(copy.text('docs/exec.md')).toContain(row);
    const once = ['--rounds', '2', '--warmup', '0', '--iterations', '1', '--output', 'out'];
    await copy.command('exec', ...once, '--simulate', '--json', 'exec.json', '--', process.execPath, '-e', '0');
    const { systems } = JSON.parse(copy.text('exec.json')) as ComparisonDocument;
    const found = systems.flat().map(({ metrics }) => metrics.find(({ id }) => id === 'node/toy-processes'));
    expect(found).toMatchObject([
      { status: 'ok', direction: 'lower' },
      { status: 'ok', direction: 'lower' },
    ]);
  });
});
