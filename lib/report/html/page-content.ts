/** The parts of a page; each decides from the view and the words whether it is there. */
import type { Markup } from '../markup.js';
import type { View } from '../../results/view.js';
import type { Words } from '../words.js';

export interface Page {
  view: View;
  words: Words;
}

export interface Section {
  /** Of its anchor. */
  id: string;
  title: string;
  /** Null where there is nothing to say. */
  body: (page: Page) => Markup | null;
}
