/** What every page has: head, notices, a list of its sections, and the theme switch. It loads nothing from the network. */
import { html, type Interpolated, type Markup, trusted } from '../text/markup.js';
import { pageAssets } from './assets.js';
import { watermark } from './notices.js';

interface PageSection {
  /** Also the section's anchor. */
  id: string;
  title: string;
  /** Whether it is shown closed, until a reader opens it. */
  isFolded?: true;
  content: Markup;
}

interface Frame {
  title: string;
  /** What a reader must know before any number. */
  notices: Interpolated;
  /** The first one needs no visible heading: it follows the page's own. */
  sections: readonly PageSection[];
  isSimulated: boolean;
  /** Style sheets beside that of every page. */
  styles?: readonly string[];
}

function head(title: string, { style, script }: ReturnType<typeof pageAssets>): Markup {
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

const header = (title: string, notices: Interpolated): Markup =>
  html`<header>
    <div class="bar"><span class="tool">gpu-virt-bench</span>${themeSwitch}</div>
    ${notices}
    <h1>${title}</h1>
  </header> `;

/** Opens a section. The answer needs no visible heading: it follows the page's own. */
const opening = ({ id, title, content }: PageSection): Markup =>
  html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title" class="unseen">${title}</h2>
    ${content}
  </section> `;

const section = ({ id, title, isFolded, content }: PageSection): Markup => {
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

export function framedPage({ title, notices, sections: [first, ...others], isSimulated, styles }: Frame): string {
  const assets = pageAssets(styles);
  return html`<!doctype html>
    <html lang="en">
      <head>
        ${head(title, assets)}
      </head>
      <body>
        <a class="skip" href="#main">Skip to results</a>
        ${header(title, notices)}
        <main id="main" tabindex="-1">
          ${first && opening(first)}
          <nav aria-label="Sections">
            <ul>
              ${others.map(({ id, title: name }) => html`<li><a href="#${id}">${name}</a></li>`)}
            </ul>
          </nav>
          ${others.map(section)}
        </main>
        ${isSimulated && watermark}
        <div id="tip" hidden></div>
        ${trusted(`<script>${assets.script.text}</script>`)}
      </body>
    </html>`.toString();
}
