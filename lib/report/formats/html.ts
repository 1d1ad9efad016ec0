/** A comparison or a run as one self-contained page, readable without a network or scripts. */
import { pageAssets } from '../html/assets.js';
import { boundedView, boundedWords, name } from '../html/bounds.js';
import { dataTable, noted } from '../html/data-table.js';
import { incompleteNotice, simulatedNotice, watermark } from '../html/notices.js';
import type { Page } from '../html/page-content.js';
import { bodies } from '../html/sections.js';
import { contents, type ReportSection } from '../sections.js';
import { html, type Markup, trusted } from '../text/markup.js';
import { roundsOf } from '../../results/kinds.js';
import type { View } from '../../results/view.js';
import type { Words } from '../text/words.js';

function titleOf({ systems, document }: View): string {
  const gpu = name(roundsOf(document)[0]?.gpu[0]?.name ?? 'No GPU');
  const named = (of: typeof systems) => of.map((system) => system.name).join(', ');
  const compared = systems.filter(({ isCompared }) => isCompared);
  const rest = systems.filter(({ isCompared }) => !isCompared);
  return compared.length > 0 ? `${gpu}: ${named(compared)} against ${named(rest)}` : `${gpu}: ${named(rest)}`;
}

function head(title: string): Markup {
  const { style, script } = pageAssets();
  const sources = `style-src ${style.hash}; script-src ${script.hash}`;
  const policy = `default-src 'none'; ${sources}; base-uri 'none'; form-action 'none'`;
  return html`<meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="referrer" content="no-referrer" />
    <title>${title} · gpu-virt-bench</title>
    <style>${trusted(style.text)}</style>`;
}

const THEMES = ['auto', 'light', 'dark'] as const;

const themeSwitch = html`<label class="theme" id="theme" hidden>Theme
  <select autocomplete="off">
    ${THEMES.map((theme) => html`<option>${theme}</option>`)}
  </select>
</label>`;

const header = ({ view }: Page, title: string): Markup =>
  html`<header>
    <div class="bar"><span class="tool">gpu-virt-bench</span>${themeSwitch}</div>
    ${view.simulated && simulatedNotice}${incompleteNotice(view.document)}
    <h1>${title}</h1>
  </header> `;

type Content = ReportSection & { content: Markup };

/** Opens a section. The answer needs no visible heading: it follows the page's own. */
const opening = ({ id, title, content }: Content): Markup =>
  html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title" class="unseen">${title}</h2>
    ${content}
  </section> `;

const section = ({ id, title, isFolded, content }: Content): Markup => {
  const heading = html`<h2 id="${id}-title">${title}</h2>`;
  return html`<section id="${id}" aria-labelledby="${id}-title">
    ${
      isFolded
        ? html`<details class="fold">
            <summary>${heading}</summary>
            ${content}
          </details>`
        : html`${heading} ${content}`
    }
  </section> `;
};

export function htmlReport(view: View, words: Words): string {
  const page = { view: boundedView(view), words: boundedWords(words) };
  const subject = titleOf(page.view);
  const [first, ...others] = contents({
    view: page.view,
    bodyOf: (id) => bodies[id]?.(page),
    tabled: (table, { note }) => (note === undefined ? dataTable(table) : noted(note, table)),
  });
  const { script } = pageAssets();
  return html`<!doctype html>
    <html lang="en">
      <head>
        ${head(subject)}
      </head>
      <body>
        <a class="skip" href="#main">Skip to results</a>
        ${header(page, subject)}
        <main id="main" tabindex="-1">
          ${first && opening(first)}
          <nav aria-label="Sections">
            <ul>
              ${others.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
            </ul>
          </nav>
          ${others.map(section)}
        </main>
        ${view.simulated && watermark}
        <div id="tip" hidden></div>
        ${trusted(`<script>${script.text}</script>`)}
      </body>
    </html>`.toString();
}
