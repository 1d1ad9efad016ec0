/** What of a fleet's folder counts, and what each node is told. */
import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { XMLValidator } from 'fast-xml-parser';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { writeDelivery } from '../../../lib/cli/files/delivery-folder.js';
import { sealOf } from '../../../lib/fleet/delivery.js';
import { planSchema, readPlan } from '../../../lib/fleet/plan.js';
import { fleetReportSchema, nodeVerdictSchema } from '../../../lib/fleet/report/document.js';
import { fleetReport, nodeVerdict, type ReportSettings } from '../../../lib/fleet/report/fleet-report.js';
import { parseLimit } from '../../../lib/fleet/report/limits.js';
import { fleetPage } from '../../../lib/fleet/report/page.js';
import { fleetMarkdown, fleetText } from '../../../lib/fleet/report/text.js';
import type { GpuInfo, RunDocument } from '../../../lib/results/document.js';
import { card, type Measured, measured, without } from '../gate/fixtures.js';
import { changedText, seeded } from '../fuzz.js';
import { runDocument } from '../run/fixtures.js';
import { deliver, deliveryOf, fleetFolder, packed, planOf } from './fixtures.js';

const documentOf = (
  uuid: string,
  value: Measured = 5,
  change: Partial<RunDocument> = {},
  gpu: Partial<GpuInfo> = {},
): RunDocument => runDocument({ gpu: [card({ uuid, ...gpu })], metrics: [measured('OH-001', value)], ...change });

const reportOn = async (folder: string, change: Partial<ReportSettings> = {}) => {
  const report = await fleetReport(folder, await readPlan(folder), { limits: [], least: 0.05, ...change });
  expect(v.is(fleetReportSchema, report)).toBe(true);
  return report;
};

/** A fleet of two: the first is well, the second is what `spoil` makes of it. */
async function secondOf(spoil: (folder: string) => void) {
  const folder = fleetFolder(planOf(2));
  deliver(folder, 0, documentOf('GPU-0'));
  spoil(folder);
  const report = await reportOn(folder);
  const [first, second] = report.coverage.tasks;
  expect(first).toMatchObject({ state: 'delivered', reason: null });
  return { ...report, second };
}

const at = (folder: string, name: string) => join(folder, 'deliveries/1', name);
const delivered =
  (document: RunDocument, change = {}) =>
  (folder: string) =>
    deliver(folder, 1, document, change);

describe('coverage', () => {
  it.each<[string, (folder: string) => void, RegExp]>([
    ['of another plan', delivered(documentOf('GPU-1'), { plan: 'plan-2' }), /^it is of another plan, plan-2$/],
    ['of another task', delivered(documentOf('GPU-1'), { index: 0 }), /^it says that it is of task 0$/],
    ['of a card that counts already', delivered(documentOf('GPU-0')), /GPU-0 was delivered by task 0 on n0 already/],
    ['of a card that its note does not name', delivered(documentOf('GPU-1'), { gpus: ['GPU-9'] }), /names other GPUs$/],
    [
      'of a simulated card among real ones',
      delivered(documentOf('GPU-1', 5, {}, { simulated: true })),
      /^its GPU is simulated/,
    ],
    ['without a card', delivered(documentOf('GPU-1', 5, { gpu: [] })), /^its document names no GPU$/],
    ['interrupted', delivered(documentOf('GPU-1'), { exitCode: 130 }), /^it was interrupted \(exit code 130\)$/],
    ['not complete', delivered(documentOf('GPU-1', 5, { completed: false })), /^its document is not complete/],
    ['killed', delivered(documentOf('GPU-1'), { exitCode: null }), /^a signal ended the command$/],
    [
      'of a layer that is not active',
      delivered(documentOf('GPU-1'), { exitCode: 5, message: 'so' }),
      /^a system was not proven active \(exit code 5\): so$/,
    ],
    ['without a document', (folder) => deliver(folder, 1, null), /^the command wrote no document \(exit code 0\)$/],
    [
      'cut off',
      (folder) => {
        delivered(documentOf('GPU-1'))(folder);
        truncateSync(at(folder, 'document.json.gz'), 100);
      },
      /has another checksum/,
    ],
    [
      'growing',
      (folder) => {
        delivered(documentOf('GPU-1'))(folder);
        appendFileSync(at(folder, 'document.json.gz'), 'x');
      },
      /has another checksum/,
    ],
    [
      'without its file',
      (folder) => {
        delivered(documentOf('GPU-1'))(folder);
        rmSync(at(folder, 'document.json.gz'));
      },
      /there is no such file/,
    ],
    [
      'a link',
      (folder) => {
        delivered(documentOf('GPU-1'))(folder);
        rmSync(at(folder, 'document.json.gz'));
        symlinkSync('../0/document.json.gz', at(folder, 'document.json.gz'));
      },
      /it is a symbolic link/,
    ],
    [
      'with a note that is cut off',
      (folder) => {
        delivered(documentOf('GPU-1'))(folder);
        truncateSync(at(folder, 'delivery.json'), 50);
      },
      /^delivery\.json: it is not complete JSON/,
    ],
    [
      'with a note that is a folder',
      (folder) => {
        mkdirSync(at(folder, 'delivery.json'), { recursive: true });
      },
      /^delivery\.json: it is not a regular file/,
    ],
    ['no JSON', raw('{"kind": "run"'), /it is not complete JSON/],
    ['of no kind of this tool', raw('{"kind": "weather", "schemaVersion": 3}'), /its kind is 'weather'/],
    [
      'with NaN',
      raw(JSON.stringify(documentOf('GPU-1')).replace('"value":5', '"value":NaN')),
      /it is not complete JSON/,
    ],
    ['with infinity', raw(JSON.stringify(documentOf('GPU-1')).replace('"value":5', '"value":1e999')), /at metrics\.0/],
    ['much larger than its file', raw(' '.repeat(2 ** 27)), /unpacked it has more than/],
  ])('refuses a delivery %s', async (_, spoil, says) => {
    const { second, coverage } = await secondOf(spoil);
    expect(second).toMatchObject({ state: 'refused', gpu: null, reason: expect.stringMatching(says) });
    expect(coverage).toMatchObject({ planned: 2, delivered: 1, refused: 1, silent: 0, cards: 1 });
  });

  it('tells silent tasks by the node that was planned', async () => {
    const folder = fleetFolder(planOf(0, { tasks: [{ index: 0, node: 'a' }, { index: 4 }] }));
    mkdirSync(join(folder, 'deliveries/0'), { recursive: true });
    const { coverage, nodes, warnings } = await reportOn(folder);
    expect(coverage).toMatchObject({ planned: 2, delivered: 0, refused: 0, silent: 2, cards: 0 });
    expect(nodes.map(({ node, verdict, tasks }) => [node, verdict, tasks])).toEqual([
      ['a', 'UNKNOWN', [0]],
      [null, 'UNKNOWN', [4]],
    ]);
    expect(warnings).toContain('No task has delivered a result: nothing can be compared.');
  });

  it('is not read through a link in place of all deliveries', async () => {
    const folder = fleetFolder(planOf(1));
    symlinkSync('/tmp', join(folder, 'deliveries'));
    await expect(reportOn(folder)).rejects.toThrow(/deliveries': it is a symbolic link/);
  });

  it('names folders that no task of the plan has', async () => {
    const folder = fleetFolder(planOf(1));
    deliver(folder, 0, documentOf('GPU-0'));
    deliver(folder, 7, documentOf('GPU-7'));
    const { coverage } = await reportOn(folder);
    expect(coverage).toMatchObject({ foreign: ['7'], cards: 1 });
  });

  it('takes the numbers of simulated cards where all are simulated, and says so', async () => {
    const folder = fleetFolder(planOf(2));
    // All simulated cards have one UUID.
    for (const i of [0, 1]) deliver(folder, i, documentOf('GPU-S', 5, {}, { simulated: true }));
    const report = await reportOn(folder);
    expect(report).toMatchObject({ simulated: true, coverage: { cards: 2 } });
    for (const text of [fleetText(report), fleetMarkdown(report), fleetPage(report)])
      expect(text).toContain('SIMULATED GPU');
  });

  it('never calls a delivery damaged because a further attempt replaces it meanwhile', async () => {
    const folder = fleetFolder(planOf(1));
    const plan = await readPlan(folder);
    let isOver = false;
    const replacing = (async () => {
      for (let attempt = 1; !isOver; attempt++) {
        const document = packed(documentOf('GPU-0', 5 + attempt));
        const note = deliveryOf(0, { attempt, gpus: ['GPU-0'], document: sealOf(document) });
        await writeDelivery(folder, note, document);
      }
    })();
    const states = new Set<string>();
    const reasons: (string | null)[] = [];
    await expect
      .poll(
        async () => {
          const { coverage } = await fleetReport(folder, plan, { limits: [], least: 0.05 });
          states.add(coverage.tasks[0]?.state ?? '');
          if (coverage.tasks[0]?.state === 'refused') reasons.push(coverage.tasks[0].reason);
          return coverage.tasks[0]?.attempt ?? 0;
        },
        { interval: 1 },
      )
      .toBeGreaterThan(100);
    isOver = true;
    await replacing;
    expect(reasons).toEqual([]);
    expect(states).toContain('delivered');
  });

  it('does not take an impossible value', async () => {
    const folder = fleetFolder(planOf(2));
    deliver(folder, 0, documentOf('GPU-0', 1e300));
    deliver(folder, 1, documentOf('GPU-1', 5));
    const { spreads, nodes } = await reportOn(folder);
    expect(spreads).toMatchObject([{ cards: 1, max: { value: 5, node: 'n1' }, mad: null, spread: null }]);
    expect(nodes[0]).toMatchObject({ node: 'n0', verdict: 'WARNING' });
  });
});

/** Packs the text as it is. */
function raw(text: string) {
  return (folder: string) => {
    deliver(folder, 1, null);
    const content = gzipSync(text);
    writeFileSync(at(folder, 'document.json.gz'), content);
    writeFileSync(
      at(folder, 'delivery.json'),
      JSON.stringify(deliveryOf(1, { gpus: ['GPU-1'], document: sealOf(content) })),
    );
  };
}

describe('the verdict of a node', () => {
  const values = [5, 5.02, 4.98, 5.01, 4.99, 5.03, 4.97];

  async function verdictsOf(last: RunDocument, change = {}, settings: Partial<ReportSettings> = {}) {
    const folder = fleetFolder(planOf(values.length + 1));
    for (const [i, value] of values.entries()) deliver(folder, i, documentOf(`GPU-${i}`, value));
    deliver(folder, values.length, last, change);
    const report = await reportOn(folder, settings);
    expect(v.is(nodeVerdictSchema, nodeVerdict(report, 'n0'))).toBe(true);
    expect(nodeVerdict(report, 'n0')?.verdict).toBe('PASS');
    return nodeVerdict(report, `n${values.length}`);
  }

  it('is PASS without findings', async () =>
    expect(await verdictsOf(documentOf('GPU-X', 5))).toMatchObject({ verdict: 'PASS', findings: [], gpus: ['GPU-X'] }));

  it('is WARNING for a slow card and says what to do', async () =>
    expect(await verdictsOf(documentOf('GPU-X', 7))).toMatchObject({
      verdict: 'WARNING',
      findings: [
        {
          severity: 'WARNING',
          reason: expect.stringMatching(/^OH-001 .* is 39\.\d+ % above the median of 8 cards/),
          action: expect.stringMatching(/^measure this node again/),
        },
      ],
    }));

  it('is INFO for a fast card', async () =>
    expect(await verdictsOf(documentOf('GPU-X', 3))).toMatchObject({ verdict: 'INFO' }));

  it('is CRITICAL beyond a limit', async () =>
    expect(await verdictsOf(documentOf('GPU-X', 5.4), {}, { limits: [parseLimit('OH-001=5.3')] })).toMatchObject({
      verdict: 'CRITICAL',
    }));

  it('is CRITICAL for a limit that does not hold, a failed proof and a failed gate', async () => {
    const violated = documentOf('GPU-X', { value: 5, violations: [{ detail: 'took 12 GiB of 10' }] });
    expect(await verdictsOf(violated, { exitCode: 4 })).toMatchObject({
      verdict: 'CRITICAL',
      findings: [{ reason: 'a limit does not hold: OH-001: took 12 GiB of 10' }],
    });
    expect(await verdictsOf(documentOf('GPU-X'), { exitCode: 3 })).toMatchObject({ verdict: 'CRITICAL' });
    const unproven = documentOf('GPU-X', 5, {
      system: {
        name: 'layer',
        kind: 'custom',
        settings: {},
        attestation: [{ proof: 'owner', passed: false, detail: 'no' }],
      },
    });
    expect(await verdictsOf(unproven)).toMatchObject({
      verdict: 'CRITICAL',
      findings: [{ reason: 'a proof failed: layer: owner: no' }],
    });
  });

  it('is WARNING for a metric that failed', async () =>
    expect(await verdictsOf(documentOf('GPU-X', without('failed', 'it broke')), { exitCode: 1 })).toMatchObject({
      verdict: 'WARNING',
      findings: [{ reason: 'OH-001 is failed: it broke' }],
    }));

  it('is told of the node that delivered, and is UNKNOWN for the one that was planned', async () => {
    const folder = fleetFolder(planOf(0, { tasks: [{ index: 0, node: 'planned' }] }));
    deliver(folder, 0, documentOf('GPU-0'), { node: 'other' });
    const report = await reportOn(folder);
    expect(report.nodes.map(({ node }) => node)).toEqual(['other', 'planned']);
    expect(nodeVerdict(report, 'planned')).toMatchObject({
      verdict: 'UNKNOWN',
      findings: [
        { reason: 'task 0: node other ran it in its place', action: expect.stringMatching(/^send task 0 again/) },
      ],
      gpus: [],
    });
    expect(nodeVerdict(report, 'other')?.findings).toContainEqual({
      severity: 'INFO',
      reason: 'task 0 was planned for node planned',
      action: null,
    });
  });

  it('is never PASS where no rule could seek outliers', async () => {
    const folder = fleetFolder(planOf(1));
    deliver(folder, 0, documentOf('GPU-0'));
    expect(nodeVerdict(await reportOn(folder), 'n0')).toMatchObject({
      verdict: 'INFO',
      findings: [{ reason: expect.stringMatching(/the only card of its kind/) }],
    });
    expect(nodeVerdict(await reportOn(folder), 'n1')).toBeNull();
  });
});

describe('hostile names', () => {
  it('are text in every format', async () => {
    const node = '<script>alert(1)</script>\u001b[31m|`x`\u202e"\'&\n# b';
    const folder = fleetFolder(planOf(1, { arguments: ['<img src=x onerror=alert(2)>'] }));
    deliver(folder, 0, documentOf('GPU-<b>\u0007', 5, {}, { name: '<i>card\u001b]0;x' }), { node });
    deliver(folder, 1, null);
    mkdirSync(join(folder, 'deliveries/<u>\u001b'), { recursive: true });
    const report = await reportOn(folder);
    const page = fleetPage(report);
    for (const text of [fleetText(report), fleetMarkdown(report), page])
      expect(text).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
    expect(page).not.toMatch(/<(?:script>alert|img|b>|i>|u>)/);
    expect(XMLValidator.validate(`<x>${/<ul class="fleet" [\s\S]*?<\/ul>/.exec(page)?.[0] ?? ''}</x>`)).toBe(true);
    expect(fleetMarkdown(report)).not.toMatch(/^# b/m);
    expect(fleetMarkdown(report)).not.toMatch(/(?<!\\)<script/);
  });
});

describe('changed deliveries', () => {
  const pieces = [
    '1e999',
    '-1',
    'null',
    '"x"',
    '[]',
    '{}',
    '"',
    '\\u0000',
    '"__proto__":{"a":1},',
    '[[[[[[',
    '"status":"ok",',
  ];

  it('are counted or refused, and every format still says so', async () => {
    const document = JSON.stringify(documentOf('GPU-1', { value: 5, ci95: [4.9, 5.1], blocks: [5, 5, 5, 5, 5, 5] }));
    const content = gzipSync(document);
    const note = JSON.stringify(deliveryOf(1, { gpus: ['GPU-1'], document: sealOf(content) }));
    const states = new Set<string>();
    const folder = fleetFolder(planOf(2));
    deliver(folder, 0, documentOf('GPU-0'));
    const whole = await reportOn(folder);
    expect(whole.coverage).toMatchObject({ delivered: 1, silent: 1 });
    const check = async () => {
      const report = await reportOn(folder);
      const { planned, delivered: taken, refused, silent } = report.coverage;
      expect(taken + refused + silent).toBe(planned);
      states.add(report.coverage.tasks[1]?.state ?? '');
      for (const text of [fleetText(report), fleetMarkdown(report), fleetPage(report)]) expect(text).toContain('n0');
    };
    await fc.assert(
      fc.asyncProperty(changedText([document], pieces), async (text) => {
        raw(text)(folder);
        await check();
      }),
      seeded(150),
    );
    raw(document)(folder);
    await fc.assert(
      fc.asyncProperty(changedText([note], pieces), async (text) => {
        writeFileSync(at(folder, 'delivery.json'), text);
        await check();
      }),
      seeded(150),
    );
    expect([...states].sort()).toEqual(['delivered', 'refused']);
  });
});

describe('docs/fleet.md', () => {
  it('shows a plan and a verdict as they are', () => {
    const page = readFileSync(new URL('../../../docs/fleet.md', import.meta.url), 'utf8');
    const shown = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']): unknown => JSON.parse(text));
    expect(
      shown.map((each, i) => v.is(([planSchema, nodeVerdictSchema] as const)[i] as v.GenericSchema, each)),
    ).toEqual([true, true]);
  });
});
