/** The documentation as a site: built here, read as files, and looked at in a real browser without a network. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metrics } from '../../lib/metrics/registry.js';
import { WAIT_MS } from '../limits.js';
import { contrasts, hasBrowser, launched } from './chromium.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const site = join(root, 'build/site');
/** The text of every page by its path in the site. */
const pages = new Map<string, string>();

beforeAll(() => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'scripts/site/build.js')], {
    encoding: 'utf8',
    timeout: WAIT_MS,
  });
  expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
  for (const name of readdirSync(site, { recursive: true, encoding: 'utf8' }))
    // What is in media/ was copied as it is, such as an example report.
    if (name.endsWith('.html') && !name.startsWith('media/')) pages.set(name, readFileSync(join(site, name), 'utf8'));
});

const plain = (attribute: string): string => attribute.replaceAll('&amp;', '&');
const attributes = (text: string, name: string): string[] =>
  [...text.matchAll(new RegExp(`<[^>]*? ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => plain(value));
const isExternal = (link: string): boolean => /^[a-z]+:/.test(link);

/** Whether a link of a page leads to a file of the site, and its anchor to an element. */
function isAlive(page: string, link: string): boolean {
  const [path = '', anchor = ''] = link.split('#').map(decodeURIComponent);
  const target = path === '' ? page : relative(site, resolve(site, dirname(page), path));
  if (target.startsWith('..') || !existsSync(join(site, target))) return false;
  return anchor === '' || !pages.has(target) || attributes(pages.get(target) ?? '', 'id').includes(anchor);
}

describe('the site', () => {
  it('has every page, and a picture or the reason for each metric', () => {
    const documents = readdirSync(join(root, 'docs')).map((name) => name.replace('.md', '.html'));
    for (const name of [...documents, 'README.html', 'CHANGELOG.html', 'report.html'])
      expect([...pages.keys()]).toContain(`documents/${name}`);
    const bare = metrics.filter(({ id }) => {
      const text = pages.get(`documents/${id}.html`) ?? '';
      const [, picture = ''] = /<div class="record">(.*?)<p class="record-source">/s.exec(text) ?? [];
      return !/<svg [^>]*role="img"/.test(picture) && !/unsupported|invalid|failed/.test(picture);
    });
    expect(bare.map(({ id }) => id)).toEqual([]);
  });

  it('says where the picture of a metric is from', () => {
    for (const { id } of metrics)
      expect(pages.get(`documents/${id}.html`)).toMatch(
        /From (?:one run|a comparison) on [^<]*NVIDIA [^<]*, driver [\d.]+, \d{4}-\d\d-\d\d, commit [0-9a-f]+:/,
      );
  });

  it('has no dead link', () => {
    const dead = [...pages].flatMap(([page, text]) =>
      [...attributes(text, 'href'), ...attributes(text, 'src')]
        .filter((link) => !isExternal(link) && !isAlive(page, link))
        .map((link) => `${page}: ${link}`),
    );
    expect(dead).toEqual([]);
  });

  it('sees a dead link', () => {
    const [page] = pages.keys();
    expect(['nothing.html', '#nothing', '../../package.json'].filter((link) => isAlive(page ?? '', link))).toEqual([]);
  });

  it('loads nothing from elsewhere', () => {
    const loaded = [...pages.values()].flatMap((text) => [
      ...attributes(text, 'src'),
      ...[...text.matchAll(/<link [^>]*href="([^"]*)"/g)].map(([, link = '']) => link),
    ]);
    expect(loaded.length).toBeGreaterThan(pages.size);
    expect(loaded.filter((link) => isExternal(link) || link.startsWith('/'))).toEqual([]);
    const styles = readdirSync(join(site, 'assets')).filter((name) => name.endsWith('.css'));
    for (const name of styles)
      expect(readFileSync(join(site, 'assets', name), 'utf8')).not.toMatch(/@import|url\((?!["']?(?:data:|#))/);
  });

  it('names no path of the machine that built it', () => {
    expect([...pages].filter(([, text]) => text.includes(root)).map(([page]) => page)).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)('the site in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launched();
  });
  afterAll(() => browser.close());

  async function withPage(path: string, options: BrowserContextOptions, look: (page: Page) => Promise<void>) {
    const context = await browser.newContext(options);
    await context.setOffline(true);
    const page = await context.newPage();
    const troubles: string[] = [];
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(pathToFileURL(site).href) && !url.startsWith('data:')) troubles.push(url);
    });
    page.on('pageerror', (error) => troubles.push(error.message));
    await page.goto(pathToFileURL(join(site, path)).href);
    await look(page);
    expect(troubles).toEqual([]);
    await context.close();
  }

  it.each([
    ['OH-005', 'API Interception Overhead (OH-005)'],
    ['dlmopen', 'Method'],
    ['coordinated omission', 'runLoad'],
  ])('finds %s from a folder: %s', (words, expected) =>
    withPage('documents/systems.html', {}, async (page) => {
      await page.keyboard.press('/');
      await page.locator('#tsd-search-input').fill(words);
      const results = page.locator('#tsd-search-results li');
      await expect.poll(() => results.allTextContents()).toContain(expected);
      await results.getByText(expected, { exact: true }).click();
      await page.waitForURL((url) => !url.pathname.endsWith('/systems.html'));
    }),
  );

  const shown = ['index.html', 'documents/metrics.html', ...['OH-001', 'IS-003', 'LLM-004', 'LLM-005', 'NCCL-003'].map((id) => `documents/${id}.html`)]; // prettier-ignore

  it.each(shown)('fits a phone, and draws in the colours of the theme: %s', async (path) => {
    for (const colorScheme of ['light', 'dark'] as const)
      await withPage(path, { viewport: { width: 390, height: 844 }, colorScheme }, async (page) => {
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
        const { seen, low } = (await page.evaluate(contrasts)) as { seen: number; low: [string, number][] };
        expect(seen).toBeGreaterThan(20);
        expect(low).toEqual([]);
      });
  });

  it('lists the groups of pages, and opens that of the page', () =>
    withPage('documents/IS-003.html', {}, async (page) => {
      const navigation = page.locator('#tsd-nav-container');
      await expect
        .poll(() => navigation.locator('> li > details > summary').allTextContents())
        .toEqual(expect.arrayContaining(['Guides', 'Reference', 'Metrics', 'Functions']));
      expect(await navigation.getByText('IS-003 SM Utilization Accuracy').isVisible()).toBe(true);
    }));
});
