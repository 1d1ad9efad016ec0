/** A comparison or a run as one self-contained page, readable without a network or scripts. */
import { boundedView, boundedWords, name } from '../html/bounds.js';
import { dataTable, noted } from '../html/data-table.js';
import { incompleteNotice, simulatedNotice } from '../html/notices.js';
import { framedPage } from '../html/page-frame.js';
import { bodies } from '../html/sections.js';
import { contents } from '../sections.js';
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

export function htmlReport(view: View, words: Words): string {
  const page = { view: boundedView(view), words: boundedWords(words) };
  return framedPage({
    title: titleOf(page.view),
    notices: [view.simulated && simulatedNotice, incompleteNotice(page.view.document)],
    sections: contents({
      view: page.view,
      bodyOf: (id) => bodies[id]?.(page),
      tabled: (table, { note }) => (note === undefined ? dataTable(table) : noted(note, table)),
    }),
    isSimulated: view.simulated,
  });
}
