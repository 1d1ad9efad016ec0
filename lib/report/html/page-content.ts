/** The sections of a page; each decides from the view and the words whether it appears. */
import type { Markup } from '../text/markup.js';
import type { View } from '../../results/view.js';
import type { Words } from '../text/words.js';

export interface Page {
  view: View;
  words: Words;
}

/** The content of a section; null if there is nothing to say. */
export type Body = (page: Page) => Markup | null;
