/** The HTML report in a real browser, without a network. Skipped, with a message, if there is no Chromium. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { upgraded } from '../../lib/results/upgraded.js';
import type * as rendering from '../../lib/rendering.js';
import { WATERMARK } from '../../lib/report/formats/terminal.js';
import type { ResultDocument } from '../../lib/results/kinds.js';
import { WAIT_MS } from '../limits.js';
import { served } from '../unit/costs/fixtures.js';
import { everyKind } from '../unit/report/fixtures.js';
import { comparisonOf, runOf, small } from '../unit/report/html-fixtures.js';
import { isolationComparison } from '../unit/report/isolation-fixtures.js';
import { contrasts, hasBrowser, launched } from './chromium.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gvb-browser-'));
let browser: Browser;
let render: (document: ResultDocument) => Promise<string>;

beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launched();
  // The shipped code, with ECharts bundled.
  const built = (await import(pathToFileURL(join(root, 'dist/rendering.js')).href)) as typeof rendering;
  render = async (document) => (await built.rendering(document)('html')) as string;
});

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

let files = 0;

interface Opened {
  page: Page;
  /** Every request of the page, and every complaint of the browser. */
  troubles: string[];
}

async function open(text: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const file = join(folder, `${files++}.html`);
  writeFileSync(file, text);
  const url = pathToFileURL(file).href;
  const context = await browser.newContext({
    viewport: { width: 1200, height: 900 },
    colorScheme: 'light',
    // Smooth scrolling to a mark would hide the value again.
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(WAIT_MS);
  await context.setOffline(true);
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on('request', (request) => request.url() !== url && troubles.push(`request: ${request.url()}`));
  page.on('console', (message) => troubles.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return { page, troubles };
}

async function withPage(
  document: ResultDocument,
  options: BrowserContextOptions,
  look: (page: Page) => Promise<void>,
): Promise<void> {
  const { page, troubles } = await open(await render(document), options);
  await look(page);
  expect(troubles).toEqual([]);
  await page.context().close();
}

/** Opens the sections that are folded. */
const unfold = (page: Page) =>
  page.evaluate(`document.querySelectorAll('details.fold').forEach((fold) => { fold.open = true; })`);

const evaluate = <T>(page: Page, script: string): Promise<T> => page.evaluate(script) as Promise<T>;
const ground = (page: Page) => evaluate<string>(page, 'getComputedStyle(document.documentElement).backgroundColor');
const comparison = comparisonOf(small);
const recorded = (file: string): ResultDocument =>
  upgraded(JSON.parse(readFileSync(join(root, 'bench/results/h200', file), 'utf8'))) as ResultDocument;
const real = recorded('2026-11-20-2fa9187/compared-overhead-quick.json');
/** Costs of programs, limits and neighbours, and the most figures a card has. */
const THREE_SYSTEMS = [
  '2026-11-22-ecd50cb/compared-isolation.json',
  '2026-11-23-3648153/programs.json',
  '2026-11-23-0e14137/compared.json',
];
const nasty = `"><img src=x onerror=alert(1)>'</script><script>alert(2)</script>{b} {a|x}`;

function simulated() {
  const document = comparisonOf(small);
  for (const { gpu } of document.systems.flat()) for (const one of gpu) one.simulated = true;
  return document;
}

/** Words of numeric cells and of headings that wrap onto two lines. */
const brokenWords = `(() => {
  const broken = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (!text.parentElement.closest('.num, thead tr:last-child th') || !text.parentElement.checkVisibility()) continue;
    for (const { 0: word, index } of text.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      seen += 1;
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
    }
  }
  return { seen, broken };
})()`;

const overflow = `[...document.body.querySelectorAll('*')]
  .filter((element) => !element.closest('.scroll svg, .scroll table') && element.getBoundingClientRect().right > innerWidth + 1)
  .map((element) => element.outerHTML.slice(0, 80))`;

describe.skipIf(!hasBrowser)('the HTML report in Chromium', () => {
  it('shows every chart, in the colours of the theme', () =>
    withPage(comparison, {}, async (page) => {
      const drawings = page.locator('figure svg[role=img]');
      expect(await drawings.count()).toBeGreaterThan(small.metrics + 6);
      for (const box of await Promise.all((await drawings.all()).map((drawing) => drawing.boundingBox()))) {
        expect(box?.width).toBeGreaterThan(250);
        expect(box?.height).toBeGreaterThan(50);
      }
      const fills = await evaluate<string[]>(
        page,
        `[...document.querySelectorAll('figure [data-tip]')].map((mark) => getComputedStyle(mark).fill)`,
      );
      expect(fills).toContain('rgb(27, 110, 194)');
      expect(fills).not.toContain('rgb(0, 0, 0)');
    }));

  it('shows the cards of three systems whole on a screen, and the first on a phone', async () => {
    const bottoms = (page: Page) =>
      evaluate<number[]>(
        page,
        `[...document.querySelectorAll('.answer-card')].map((card) => card.getBoundingClientRect().bottom)`,
      );
    for (const file of THREE_SYSTEMS) {
      const document = recorded(file);
      await withPage(document, { viewport: { width: 1280, height: 800 } }, async (page) => {
        const found = await bottoms(page);
        expect(found).toHaveLength(3);
        for (const bottom of found) expect(bottom).toBeLessThanOrEqual(800);
      });
      await withPage(document, { viewport: { width: 390, height: 844 } }, async (page) => {
        expect((await bottoms(page))[0]).toBeLessThanOrEqual(844);
        expect(await evaluate<string[]>(page, overflow)).toEqual([]);
      });
    }
  });

  it('says the decision, the reason, a number and what is not known in the first 60 words of the example', async () => {
    const { page, troubles } = await open(readFileSync(join(root, 'examples/report.html'), 'utf8'), {});
    const text = await evaluate<string>(page, 'document.body.innerText');
    const first = text.split(/\s+/).filter(Boolean).slice(0, 60).join(' ');
    expect(first).toMatch(
      /For serving use hami-50, not mps-50, because mps-50 lets 4 faults of a tenant reach its neighb/,
    );
    expect(first).toMatch(/Use hami-50 only where \+169\.1 ms \(.*\) until the first result is acceptable\./);
    expect(first).toMatch(/Not measured: compute limit of mps-50\.$/);
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it('opens a folded section that a link leads to, and prints it', () =>
    withPage(comparison, {}, async (page) => {
      const table = page.locator('#tails table');
      expect(await table.isVisible()).toBe(false);
      await page.emulateMedia({ media: 'print' });
      expect(await table.isVisible()).toBe(true);
      await page.emulateMedia({ media: 'screen' });
      await page.locator('nav a', { hasText: 'Tail latencies' }).click();
      await expect.poll(() => table.isVisible()).toBe(true);
    }));

  it('never cuts a name in a chart', () => {
    const long = 'hami-core-with-a-name-of-forty-characters-and-more-sm50';
    return withPage(comparisonOf({ ...small, systems: ['native', long, `${long}-b`] }), {}, async (page) => {
      const drawn = await page.locator('#results svg').allTextContents();
      expect(drawn.some((text) => text.replace(/\s/g, '').includes(long))).toBe(true);
      expect(drawn.filter((text) => text.includes('…') && /hami[^(]*…/.test(text))).toEqual([]);
    });
  });

  it('shows a real comparison, and a run', async () => {
    await withPage(real, {}, async (page) => {
      expect(await page.locator('h1').textContent()).toBe('NVIDIA H200: hami-core, mps against native');
    });
    await withPage(runOf({ ...small, systems: ['native'] }, 0, 0), {}, async (page) => {
      expect(await page.locator('#results .card').count()).toBeGreaterThan(small.metrics);
    });
  });

  it('shows hostile names as text in the page and in its drawings', async () => {
    const document = comparisonOf({ ...small, systems: ['native', nasty, `${nasty} too`] });
    for (const run of document.systems.flat()) {
      for (const gpu of run.gpu) gpu.name = nasty;
      for (const metric of run.metrics) metric.name = nasty;
    }
    await withPage(document, {}, async (page) => {
      expect(await page.locator('h1').textContent()).toBe(`${nasty}: ${nasty}, ${nasty} too against native`);
      expect(await page.locator('img').count()).toBe(0);
      expect(await page.locator('script').count()).toBe(1);
      await page.locator('#results .card [data-tip]').nth(1).hover({ force: true });
      expect(await page.locator('#tip').textContent()).toContain(nasty);
      const drawn = await page.locator('figure svg text').allTextContents();
      expect(drawn.some((text) => text.startsWith('"><img'))).toBe(true);
    });
  });

  it('sorts a table by a column in both directions, by pointer and by keyboard', () =>
    withPage(comparison, {}, async (page) => {
      await unfold(page);
      const heading = page.locator('#tails th', { hasText: 'p50' });
      const column = async () =>
        evaluate<number[]>(
          page,
          `[...document.querySelectorAll('#tails tbody tr')].map((row) => Number(row.cells[3].dataset.sort))`,
        );
      const before = await column();
      await heading.getByRole('button').click();
      expect(await column()).toEqual([...before].sort((a, b) => a - b));
      expect(await heading.getAttribute('aria-sort')).toBe('ascending');
      await heading.getByRole('button').focus();
      await page.keyboard.press('Enter');
      expect(await column()).toEqual([...before].sort((a, b) => b - a));
      expect(await heading.getAttribute('aria-sort')).toBe('descending');
      await page.locator('#tails th', { hasText: 'System' }).getByRole('button').click();
      const names = await page.locator('#tails tbody td:nth-child(2)').allTextContents();
      expect(names).toEqual([...names].sort());
      expect(await heading.getAttribute('aria-sort')).toBeNull();
    }));

  it('sorts ratios by size, then differences by unit, and missing effects last, in both directions', () =>
    withPage(everyKind(), {}, async (page) => {
      const table = page.locator('#results table', { hasText: 'OH-005' }).last();
      const heading = table.locator('thead th', { hasText: 'against native' }).first();
      const order = async () => {
        await heading.getByRole('button').click();
        const texts = await table.locator('tbody td:nth-child(5)').allInnerTexts();
        return texts.map((text) => text.trim().replace(/\s+/g, ' ').split(' ').slice(0, 2).join(' '));
      };
      const found = await order();
      const ratios = found.filter((text) => text.startsWith('×')).map((text) => Number(text.slice(2, 5)));
      expect(ratios).toEqual([1, 1.2, 1.2]);
      expect(found.slice(3).map((text) => text.slice(0, 6))).toEqual(['+16.65', '+0.201', '+160.8', '–']);
      const turned = await order();
      expect(turned.slice(0, 3)).toEqual(found.slice(0, 3).reverse());
      expect(turned.slice(3)).toEqual(found.slice(3));
    }));

  it('shows that headings sort, and the current order', () =>
    withPage(comparison, {}, async (page) => {
      const hint = () =>
        evaluate<string>(page, `getComputedStyle(document.querySelector('#tails th button'), '::after').content`);
      await unfold(page);
      expect(await hint()).toBe('"⇅"');
      await page.locator('#tails th button').first().click();
      expect(await hint()).toBe('"↑"');
    }));

  it('filters tables and charts by text and by verdict', () =>
    withPage(comparison, {}, async (page) => {
      const rows = page.locator('#results table tbody tr[data-metric]:visible');
      const all = await rows.count();
      const count = page.locator('#filter-count');
      expect(await count.textContent()).toBe(`${small.metrics} metrics`);
      await page.getByLabel('Find a metric').fill('Start-006');
      for (const text of await rows.allTextContents()) expect(text).toContain('START-006');
      expect(await page.locator('.card:visible').first().textContent()).toContain('START-006');
      expect(await count.textContent()).toBe(
        `1 of ${small.metrics} metrics; the rest, and the drawing of all ratios, are hidden`,
      );
      await page.emulateMedia({ media: 'print' });
      expect(await count.isVisible()).toBe(true);
      expect(await page.getByLabel('Find a metric').isVisible()).toBe(false);
      await page.emulateMedia({ media: 'screen' });
      await page.getByLabel('Find a metric').fill('');
      await page.getByRole('combobox', { name: 'Verdict' }).selectOption('faster');
      const judged = await page.locator('#results tr[data-verdicts]:visible').all();
      for (const row of judged) expect(await row.getAttribute('data-verdicts')).toContain('faster');
      expect(await rows.count()).toBeLessThan(all);
      await page.getByRole('combobox', { name: 'Verdict' }).selectOption('');
      expect(await rows.count()).toBe(all);
    }));

  it('hides every table, heading and drawing of the metrics that the filter excludes', () =>
    withPage(comparison, {}, async (page) => {
      const shown = () =>
        evaluate<string[]>(
          page,
          `[...document.querySelectorAll('h3, figure, table')]
            .filter((element) => element.checkVisibility() && !element.closest('#answer, #compute-limits, #health'))
            .map((element) => element.outerHTML.slice(0, 80))`,
        );
      await unfold(page);
      expect((await shown()).length).toBeGreaterThan(20);
      await page.getByLabel('Find a metric').fill('zzzz');
      expect(await shown()).toEqual([]);
      for (const id of ['results', 'tails', 'consistency', 'statistics', 'not-measured'])
        expect(await evaluate(page, `getComputedStyle(document.getElementById('${id}'), '::after').content`)).toContain(
          'No metric',
        );
    }));

  it('restores the text about the filter when a reader returns to the page', () =>
    withPage(comparison, {}, async (page) => {
      await page.getByRole('combobox', { name: 'Verdict' }).selectOption('faster');
      await page.getByLabel('Theme').selectOption('dark');
      await page.goto('about:blank');
      await page.goBack();
      const verdict = await page.getByRole('combobox', { name: 'Verdict' }).inputValue();
      const theme = await page.getByLabel('Theme').inputValue();
      const count = await page.locator('#filter-count').textContent();
      expect(count?.includes('of')).toBe(verdict !== '');
      expect(await ground(page)).toBe(theme === 'dark' ? 'rgb(15, 19, 24)' : 'rgb(255, 255, 255)');
    }));

  it('lets the keyboard reach scrolling regions, and only those', async () => {
    const regions = `[...document.querySelectorAll('.scroll')].filter((one) => one.checkVisibility()).map((one) =>
      [one.scrollWidth > one.clientWidth, one.hasAttribute('tabindex'), one.getAttribute('role')].join())`;
    const seen = async (width: number) => {
      let found: string[] = [];
      await withPage(comparison, { viewport: { width, height: 800 } }, async (page) => {
        await unfold(page);
        await page.locator('#results details').last().locator('summary').click();
        await page.waitForFunction(`new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(true))))`);
        found = await evaluate<string[]>(page, regions);
      });
      return [...new Set(found)].sort();
    };
    expect(await seen(1280)).toEqual(['false,false,group']);
    expect(await seen(360)).toEqual(['false,false,group', 'true,true,region']);
    await withPage(comparison, { javaScriptEnabled: false }, async (page) => {
      for (const region of await page.locator('.scroll').all()) expect(await region.getAttribute('tabindex')).toBe('0');
    });
  });

  it('shows values under the pointer, and hides them', () =>
    withPage(comparison, {}, async (page) => {
      const tip = page.locator('#tip');
      const point = async (selector: string) => {
        // The first hover may scroll, which hides a value that is already shown.
        const shown = async () => {
          // Marks overlap.
          await page.locator(selector).first().hover({ force: true });
          return tip.isVisible();
        };
        await expect.poll(shown).toBe(true);
      };
      await point('#results .card [data-tip^="native: "]');
      expect(await tip.textContent()).toMatch(/^native: .* us/);
      const box = await tip.boundingBox();
      expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 0) <= 1200).toBe(true);
      await page.keyboard.press('Escape');
      expect(await tip.isVisible()).toBe(false);
      await point('figure.wide [data-tip]');
      expect(await tip.textContent()).toContain('against native');
      await page.setViewportSize({ width: 600, height: 900 });
      await point('figure.wide [data-tip]');
      await evaluate(page, `document.querySelector('figure.wide .scroll').scrollLeft += 50`);
      await expect.poll(() => tip.isVisible()).toBe(false);
    }));

  it("follows the reader's theme until another is chosen", () =>
    withPage(comparison, { colorScheme: 'dark' }, async (page) => {
      expect(await ground(page)).toBe('rgb(15, 19, 24)');
      await page.getByLabel('Theme').selectOption('light');
      expect(await ground(page)).toBe('rgb(255, 255, 255)');
      await page.getByLabel('Theme').selectOption('dark');
      await page.emulateMedia({ colorScheme: 'light' });
      expect(await ground(page)).toBe('rgb(15, 19, 24)');
      await page.getByLabel('Theme').selectOption('auto');
      expect(await ground(page)).toBe('rgb(255, 255, 255)');
    }));

  it.each(['light', 'dark'] as const)('can be read in %s colours', (colorScheme) =>
    withPage(comparison, { colorScheme }, async (page) => {
      await unfold(page);
      const { seen, low } = await evaluate<{ seen: number; low: unknown[] }>(page, contrasts);
      expect(seen).toBeGreaterThan(500);
      expect(low).toEqual([]);
    }),
  );

  it('can be read without a script', () =>
    withPage(comparison, { javaScriptEnabled: false, colorScheme: 'dark' }, async (page) => {
      for (const control of await page.locator('input, select, output').all())
        expect(await control.isVisible()).toBe(false);
      for (const summary of await page.locator('details.fold > summary').all()) await summary.click();
      expect(await page.locator('table tbody tr:visible').count()).toBeGreaterThan(50);
      expect(await page.locator('figure svg[role=img]:visible').count()).toBeGreaterThan(small.metrics);
      expect(await page.locator('#reproduction').isVisible()).toBe(true);
    }));

  it('prints in light colours, without controls, and cuts nothing off', () =>
    withPage(simulated(), { colorScheme: 'dark', viewport: { width: 688, height: 971 } }, async (page) => {
      await page.getByLabel('Theme').selectOption('dark');
      await page.emulateMedia({ media: 'print' });
      expect(await ground(page)).toBe('rgb(255, 255, 255)');
      for (const control of await page.locator('input, select, nav').all())
        expect(await control.isVisible()).toBe(false);
      expect(await page.locator('.watermark').isVisible()).toBe(true);
      expect(
        await evaluate(
          page,
          `[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.ariaLabel)`,
        ),
      ).toEqual([]);
      expect(await evaluate(page, 'document.documentElement.scrollWidth')).toBeLessThanOrEqual(688);
      expect((await page.pdf({ format: 'A4' })).length).toBeGreaterThan(50_000);
    }));

  it('repeats table headings on every printed page, and splits no row, card or fact', () =>
    withPage(comparison, {}, async (page) => {
      await page.emulateMedia({ media: 'print' });
      const styles = (selector: string, property: string) =>
        evaluate<string[]>(
          page,
          `[...new Set([...document.querySelectorAll('${selector}')].map((one) => getComputedStyle(one)['${property}']))]`,
        );
      expect(await styles('thead', 'display')).toEqual(['table-header-group']);
      // A repeated heading leaves out elements that are not in the flow of text.
      expect(await styles('th button', 'display')).toEqual(['contents']);
      expect(await styles('tr, .card, .facts > div, figure svg, figcaption', 'breakInside')).toEqual(['avoid']);
      expect(await styles('h2, h3, caption', 'breakAfter')).toEqual(['avoid']);
      expect(await styles('.num, thead tr:last-child th', 'overflowWrap')).toEqual(['normal']);
    }));

  it.each([3, 4, 8])('prints the numbers of %i systems without cutting them', (count) => {
    const systems = ['native', ...Array.from({ length: count - 1 }, (_, i) => `hami-core-${i}`)];
    const many = comparisonOf({ ...small, metrics: 15, systems });
    for (const { metrics } of many.systems.flat())
      for (const metric of metrics) {
        metric.name = 'Asynchronous reallocation of suballocations';
        metric.unit = 'operations/s';
        metric.value = (metric.value ?? 0) * 123_456.789;
      }
    for (const effect of many.effects) {
      effect.difference = -12_345_678;
      effect.differenceCi95 = [-1_234_567_890, 1_234_567_890];
    }
    return withPage(many, { viewport: { width: 688, height: 971 } }, async (page) => {
      await page.emulateMedia({ media: 'print' });
      const { seen, broken } = await evaluate<{ seen: number; broken: string[] }>(page, brokenWords);
      expect(seen).toBeGreaterThan(500);
      expect(broken).toEqual([]);
      expect(await evaluate(page, 'document.documentElement.scrollWidth')).toBeLessThanOrEqual(688);
    });
  });

  it('fits a narrow screen, with tables in scrolling regions', async () => {
    const viewport = { width: 360, height: 740 };
    const long = { ...small, systems: ['native', 'W'.repeat(300), `a ${'long name '.repeat(30)}`] };
    for (const document of [comparison, real, comparisonOf(long)])
      await withPage(document, { viewport }, async (page) => {
        expect(await evaluate(page, 'document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
        expect(await evaluate<string[]>(page, overflow)).toEqual([]);
        const region = page.locator('#results .category .scroll').first();
        await region.focus();
        expect(await evaluate(page, 'document.activeElement.className')).toBe('scroll');
      });
  });

  it.each([
    ['a narrow screen', { viewport: { width: 360, height: 740 } }],
    ['the dark', { colorScheme: 'dark' }],
  ] as const)('shows costs, ranks and a front on %s', (_, options) =>
    withPage(served(), options, async (page) => {
      expect(await evaluate(page, 'document.documentElement.scrollWidth')).toBeLessThanOrEqual(
        page.viewportSize()?.width ?? 0,
      );
      expect(await page.locator('#fronts figure svg[role=img]:visible').count()).toBe(1);
      await page.locator('#fronts summary').click();
      expect(await evaluate<string[]>(page, overflow)).toEqual([]);
      expect((await evaluate<{ low: unknown[] }>(page, contrasts)).low).toEqual([]);
    }),
  );

  it.each([
    ['a screen', { viewport: { width: 1280, height: 900 } }, 'screen'],
    ['a narrow screen', { viewport: { width: 360, height: 740 } }, 'screen'],
    ['paper', { viewport: { width: 688, height: 971 } }, 'print'],
    ['the dark', { colorScheme: 'dark' }, 'screen'],
  ] as const)('shows isolation in detail on %s', (_, options, media) =>
    withPage(isolationComparison(), options, async (page) => {
      await page.emulateMedia({ media });
      const width = page.viewportSize()?.width ?? 0;
      expect(await evaluate(page, 'document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(await page.locator('#isolation figure svg[role=img]:visible').count()).toBeGreaterThan(12);
      if (media === 'print') {
        const { broken } = await evaluate<{ broken: string[] }>(page, brokenWords);
        expect(broken).toEqual([]);
        return;
      }
      expect(await evaluate<string[]>(page, overflow)).toEqual([]);
      expect((await evaluate<{ low: unknown[] }>(page, contrasts)).low).toEqual([]);
    }),
  );

  it('keeps captions and row names visible while a table scrolls on a narrow screen', () =>
    withPage(comparison, { viewport: { width: 360, height: 740 } }, async (page) => {
      await unfold(page);
      const region = page.locator('#consistency .scroll');
      await region.evaluate((element) => {
        element.scrollLeft = 200;
      });
      const seen = ['caption span', 'thead th[scope=col]', 'tbody th'].map((part) => region.locator(part).first());
      for (const box of await Promise.all(seen.map((part) => part.boundingBox()))) {
        expect(box?.x).toBeGreaterThanOrEqual(0);
        expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
      }
    }));

  it('shows at the top that a GPU is simulated, without covering anything', () =>
    withPage(simulated(), {}, async (page) => {
      const notice = page.getByText(WATERMARK);
      expect((await notice.boundingBox())?.y).toBeLessThan(200);
      expect(await page.locator('.watermark').isVisible()).toBe(true);
      await page.getByLabel('Find a metric').click();
      expect(await evaluate(page, 'document.activeElement.id')).toBe('filter-text');
    }));

  it('lets the keyboard skip to the results, and shows where it is', () =>
    withPage(comparison, {}, async (page) => {
      await page.keyboard.press('Tab');
      const skip = page.getByText('Skip to results');
      expect((await skip.boundingBox())?.x).toBeGreaterThanOrEqual(0);
      expect(await evaluate(page, 'getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
      await page.keyboard.press('Enter');
      expect(await evaluate(page, 'document.activeElement.id')).toBe('main');
    }));

  it.each([
    ['reduce', 'auto'],
    ['no-preference', 'smooth'],
  ] as const)('moves as the reader wants it: %s', (reducedMotion, behaviour) =>
    withPage(comparison, { reducedMotion }, async (page) => {
      expect(await evaluate(page, 'getComputedStyle(document.documentElement).scrollBehavior')).toBe(behaviour);
    }),
  );
});
