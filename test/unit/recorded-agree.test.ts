/** No part of a result says anything else than the verdicts of the document, over all recorded comparisons. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { answerOf } from '../../lib/answer/answer.js';
import { gateOfReport } from '../../lib/gate/gate.js';
import { defaultThresholds } from '../../lib/gate/thresholds.js';
import { metricsOf } from '../../lib/metrics/core/stored-definitions.js';
import { rendering } from '../../lib/rendering.js';
import { briefReport } from '../../lib/report/formats/brief.js';
import { comparisonReport } from '../../lib/report/formats/comparison.js';
import { tallies } from '../../lib/report/tables/tally.js';
import type { Answer, Figure } from '../../lib/results/answer-schema.js';
import type { ComparisonDocument, Effect } from '../../lib/results/document.js';
import { isDifference } from '../../lib/results/text/effect-text.js';
import { plain } from '../../lib/results/text/plain.js';
import { rowsOf, viewOf } from '../../lib/results/view.js';
import { readHistory } from '../../lib/saved/history.js';
import { readDocument } from '../../lib/saved/read.js';
import { effectsIn, inMarkdown, inOpenMetrics, inPage, inTerminal, statedBy, tablesIn } from './report/verdicts.js';

interface Records {
  jsonRecords: () => Iterable<{ name: string; kind: string; content: unknown }>;
}
const file = new URL('../../bench/records.js', import.meta.url).href;
const { jsonRecords } = (await import(file)) as Records;

const results = mkdtempSync(join(tmpdir(), 'gvb-agree-'));
afterAll(() => rmSync(results, { recursive: true }));

/** Documents as `compare` would have written them, one for each directory. */
const documents = new Map<string, ComparisonDocument>();
for (const { name, kind, content } of jsonRecords()) {
  if (kind !== 'comparison') continue;
  const directory = join(results, name.replaceAll('/', '-'));
  mkdirSync(directory);
  writeFileSync(join(directory, 'summary.json'), JSON.stringify(content));
  documents.set(directory, (await readDocument(directory)).document as ComparisonDocument);
}
const each = [...documents].map(([directory, document]) => [directory.slice(results.length + 1), document] as const);

const wide = { width: Infinity, hasUtf8: true };

describe.each(each)('%s', (_, document) => {
  const view = viewOf(document);
  const render = rendering(document);
  const textOf = async (format: Parameters<typeof render>[0]) => [await render(format)].flat().join('');
  const answer = answerOf(document);

  it('has the verdicts of the document in every format', async () => {
    expect(inTerminal(comparisonReport(document, wide), view)).toEqual(statedBy(view));
    const markdown = inMarkdown(await textOf('markdown'), view);
    expect(markdown).toEqual({ results: statedBy(view), effects: effectsIn(view) });
    const page = inPage(await textOf('html'));
    expect(page.results.sort()).toEqual(statedBy(view).sort());
    expect(page.effects.sort()).toEqual(effectsIn(view).sort());
    expect(inOpenMetrics(await textOf('openmetrics'))).toEqual(effectsIn(view));
    const json = JSON.parse(await textOf('json')) as ComparisonDocument;
    expect(json.effects).toEqual(document.effects);
    expect(json.answer).toEqual(JSON.parse(JSON.stringify(answer)));
  });

  it('counts the verdicts of the document', () => {
    for (const { system, counts } of tallies(view))
      for (const { verdict, count } of counts)
        expect(document.effects.filter((one) => plain(one.system) === system && one.verdict === verdict)).toHaveLength(count); // prettier-ignore
  });

  it('has the same words in every form of its answer', async () => {
    const words = answer.cards.flatMap(({ lines }) => lines.flatMap(({ figures }) => figures.map(({ word }) => word)));
    const inTables = tablesIn(await textOf('markdown'))
      .filter(({ titles }) => titles[0] === 'Question')
      .flatMap(({ titles, rows }) => rows.map((cells) => cells[titles.indexOf('Conclusion')]));
    expect(inTables).toEqual(words);
    const brief = briefReport(document);
    for (const figure of answer.cards.flatMap(({ lines }) => lines.flatMap(({ figures }) => figures)))
      if (figure.shown !== null) expect(brief).toContain(lineOf(figure));
  });

  it('has no figure against the verdict of its metric', () => {
    const against = answer.cards.flatMap(({ system, lines }) =>
      lines.flatMap(({ figures }) => figures.filter((figure) => isAgainst(figure, effectOf(document, figure, system)))),
    );
    expect(against).toEqual([]);
  });

  it('decides nothing against a verdict', () => {
    const isWorse = document.effects.some(({ verdict }) => verdict === 'slower');
    if (isWorse) expect(answer.decision).not.toMatch(/no cost (is established|that counts)/i);
  });

  it('recommends nothing against a figure', () => {
    expect(answer.recommendations.flatMap((advice) => misplaced(answer, advice))).toEqual([]);
  });

  it('places systems by the verdicts between them', () => {
    for (const { metric, systems } of document.rankings ?? [])
      for (const { system, rank } of systems.filter((one) => one.rank !== null))
        expect([metric, system, rank]).toEqual([metric, system, 1 + betterThan(document, metric, system).length]);
  });

  it('fails a gate only by a verdict beyond the tolerance', () => {
    const metrics = metricsOf(document);
    const thresholds = defaultThresholds(metrics);
    const changes = gateOfReport(document, metrics).cases.filter(({ kind }) => kind === 'regression');
    for (const { metric, system, outcome, improvement } of changes) {
      const effect = document.effects.find((one) => one.metric === metric && one.system === system) as Effect;
      const definition = metrics.find(({ id }) => id === metric);
      const allowed = thresholds.metrics.get(metric)?.regression;
      if (outcome === 'failed') {
        expect([metric, system, effect.verdict]).toEqual([metric, system, 'slower']);
        if (allowed && 'relative' in allowed) expect(effect.ratioCi95?.[0]).toBeGreaterThan(1 + allowed.relative);
        else {
          const ends = effect.differenceCi95?.map((end) => (definition?.direction === 'higher' ? -end : end)) ?? [];
          expect(Math.min(...ends)).toBeGreaterThan(allowed?.absolute ?? Infinity);
        }
      }
      if (improvement !== undefined) expect([metric, system, effect.verdict]).toEqual([metric, system, 'faster']);
    }
  });
});

/** `launch +290.0 ns (+147.0 … +433.0): slower`. */
const lineOf = ({ what, shown, shownCi95, word }: Figure): string =>
  `${what} ${shown}${shownCi95 === null ? '' : ` (${shownCi95})`}: ${word}`;

const effectOf = ({ effects }: ComparisonDocument, { metric }: Figure, system: string): Effect | undefined =>
  effects.find((one) => one.metric === metric && plain(one.system) === system);

const SIDES: Partial<Record<Figure['word'], Figure['word'][]>> = {
  slower: ['faster', 'same'],
  faster: ['slower', 'same'],
  same: ['slower', 'faster'],
};

const isAgainst = ({ word }: Figure, effect: Effect | undefined): boolean =>
  effect !== undefined && (SIDES[effect.verdict]?.includes(word) ?? false);

/** The heads of the sentences of advice, and the words of the figures that they are about. */
const HEADS: [head: string, words: Figure['word'][]][] = [
  ['Costs', ['slower']],
  ['Gains', ['faster']],
  ['No loss that counts', ['same']],
];

/** Sentences that are about a figure of the card with another word. */
function misplaced({ cards }: Answer, { use, systems }: Answer['recommendations'][number]): string[] {
  return systems.flatMap(({ system, text }) => {
    const figures = cards.find((card) => card.system === system)?.lines.flatMap((line) => line.figures) ?? [];
    return HEADS.flatMap(([head, words]) => {
      const [, sentence] = text.split(`${head}: `);
      const about = sentence?.split(/\. [A-Z]/)[0]?.split('; ') ?? [];
      return figures
        .filter(({ word, what }) => !words.includes(word) && about.some((one) => one.replace(/ [+×-].*/s, '') === what))
        .map(({ what, word }) => `${use}, ${system}: ${head}: ${what}, which is ${word}`);
    });
  });
}

const betterThan = ({ pairs }: ComparisonDocument, metric: string, system: string): Effect[] =>
  pairs.filter(
    (pair) =>
      pair.metric === metric &&
      isDifference(pair) &&
      (pair.verdict === 'slower' ? pair.system === system : pair.baseline === system),
  );

it('is in the history with the values of the document', async () => {
  const { entries, unreadable } = await readHistory({ results, store: join(results, 'none'), limit: 1000 }, []);
  expect(unreadable).toEqual([]);
  expect(entries).toHaveLength(documents.size);
  for (const { path, values } of entries) {
    const cells = rowsOf(viewOf(documents.get(path) as ComparisonDocument)).flatMap(({ id, unit, cells: own }) =>
      own.flatMap(({ system, value }) => (value === null ? [] : [[id, system, value, unit]])),
    );
    expect(values.map(({ metric, system, value, unit }) => [metric, system, value, unit])).toEqual(cells);
  }
});

it('has something to check of each kind among the records', () => {
  const all = [...documents.values()];
  const answers = all.map(answerOf);
  const advice = answers.flatMap(({ recommendations }) => recommendations.flatMap(({ systems }) => systems));
  const failed = all.flatMap((document) => gateOfReport(document, metricsOf(document)).cases).filter(({ outcome, kind }) => kind === 'regression' && outcome === 'failed'); // prettier-ignore
  const counts = {
    effects: all.flatMap(({ effects }) => effects).length,
    rankings: all.flatMap(({ rankings = [] }) => rankings).length,
    figures: answers.flatMap(({ cards }) => cards.flatMap(({ lines }) => lines.flatMap(({ figures }) => figures)))
      .length,
    costs: advice.filter(({ text }) => text.includes('Costs: ')).length,
    same: advice.filter(({ text }) => text.includes('No loss that counts: ')).length,
    failed: failed.length,
  };
  for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(0);
});
