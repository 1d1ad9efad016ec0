/** The answer: the decision, a card per system, violations by cause, advice, and what is not known. */
import type { Advice, Broken, Card, Figure, Line, Word } from '../../results/answer-schema.js';
import {
  brokenText,
  commonReason,
  decidesText,
  isSilent,
  notesOf,
  numberOf,
  openText,
  placesText,
} from '../text/answer-text.js';
import { violations as foundViolations } from './limits.js';
import { html, type Markup } from '../text/markup.js';
import type { State } from '../isolation/outcome-kinds.js';
import { name, short } from './bounds.js';
import { outcomeBadge } from './outcome-badge.js';
import type { Page } from './page-content.js';
import { unbroken } from './table.js';
import { verdictBadge } from './verdict.js';

const states: Partial<Record<Word, State>> = {
  holds: 'good',
  broken: 'bad',
  inaccurate: 'bad',
  'in part': 'unclear',
  measured: 'plain',
  'not measured': 'none',
};

function badge(word: Word): Markup {
  const state = states[word];
  if (state !== undefined) return outcomeBadge({ state, word, note: '' });
  return verdictBadge(
    word as Exclude<Word, 'holds' | 'broken' | 'inaccurate' | 'in part' | 'measured' | 'not measured'>,
  );
}

/** Most characters of a note: a reason may be a paragraph, and the tables have it in full. */
const NOTE = 110;

function figureMarkup(figure: Figure): Markup {
  const { what, shownCi95, word } = figure;
  const notes = notesOf(figure);
  const beside = [
    shownCi95 !== null && html`<span>${unbroken(shownCi95)}</span>`,
    notes !== null && html`<span>${short(notes, NOTE)}</span>`,
  ];
  return html`<div class="answer-figure">
    <span class="number">${unbroken(numberOf(figure))}</span> <span class="about">${name(what)}</span> ${badge(word)}
    ${beside.some(Boolean) && html`<span class="beside">${beside}</span>`}
  </div> `;
}

/** Draws a line; one without any figure takes little room. */
const lineMarkup = (line: Line): Markup =>
  isSilent(line)
    ? html`<div class="answer-line silent">
        <dt>${line.title}</dt>
        <dd class="answer-figure">${badge(line.word)}</dd>
      </div> `
    : html`<div class="answer-line">
        <dt>${line.title}</dt>
        <dd>${line.figures.map(figureMarkup)}</dd>
      </div> `;

const cardMarkup = ({ system, lines }: Card): Markup =>
  html`<article class="answer-card">
    <h3>${name(system)}</h3>
    <dl>
      ${lines.map(lineMarkup)}
    </dl>
  </article> `;

/** Facts that stand below the answer; the last sections have the others. */
const MADE_OF = ['Driver', 'Tier', 'Rounds', 'Started'];

export function answer({ words }: Page): Markup {
  const { decision, cards } = words.answer;
  const made = words.facts.filter(([label]) => MADE_OF.includes(label)).map(([label, value]) => `${label}: ${value}`);
  const open = openText(words.answer);
  return html`<p class="decision">${decision}</p>
    ${open !== null && html`<p class="open">${open}</p> `}
    <div class="answer-cards">${cards.map(cardMarkup)}</div>
    ${made.length > 0 && html`<p class="note">${name(made.join(' · '))}</p>`}`;
}

const brokenMarkup = (one: Broken): Markup => html`<li><strong>${name(one.system)}</strong> ${brokenText(one)}</li> `;

export function violations(page: Page): Markup | null {
  const found = foundViolations(page);
  if (!found) return null;
  const { violations: causes } = page.words.answer;
  return html`<ul class="causes">
      ${causes.map(brokenMarkup)}
    </ul>
    <details>
      <summary>Every finding</summary>
      ${found}
    </details>`;
}

function adviceMarkup(advice: Advice, common: string | null): Markup {
  const places = placesText(advice);
  return html`<div>
    <dt>${advice.use}</dt>
    <dd>
      ${places !== null && html`<p class="places">${places}</p>`}
      ${common === null && html`<p>${advice.reason}</p>`}
      ${
        advice.systems.length > 0 &&
        html`<ul>
          ${advice.systems.map(({ system, text }) => html`<li><strong>${name(system)}</strong>: ${text}</li> `)}
        </ul>`
      }
      <p class="note">${decidesText(advice)}</p>
    </dd>
  </div> `;
}

export function recommendations({ words }: Page): Markup | null {
  const { recommendations: all } = words.answer;
  if (all.length === 0) return null;
  const common = commonReason(all);
  return html`${common !== null && html`<p>${common}</p> `}
    <dl class="advice">
      ${all.map((advice) => adviceMarkup(advice, common))}
    </dl> `;
}

export function unknown({ words }: Page): Markup | null {
  const all = words.answer.unknown;
  if (all.length === 0) return null;
  return html`<ul class="unknown">
    ${all.map(
      ({ text, command }) =>
        html`<li>
          ${text} ${command !== null && html`<pre><code>${command}</code></pre>`}
        </li> `,
    )}
  </ul> `;
}
