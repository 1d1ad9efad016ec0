/** The sections of a page; each decides from the view and the words whether it appears. */
import type { Markup } from '../markup.js';
import type { View } from '../../results/view.js';
import type { Words } from '../words.js';

export interface Page {
  view: View;
  words: Words;
}

export interface Section {
  /** The id of its anchor. */
  id: string;
  title: string;
  /** Null if there is nothing to say. */
  body: (page: Page) => Markup | null;
}
