/** The sentences of a report as plain data, shared by all formats. */
import { environmentFacts, headerFacts } from './header.js';
import { recommendations, type Recommendation } from './recommendations.js';
import { reproduction, toFillIn } from './reproduction.js';
import { statisticsText } from './statistics.js';
import { summaryText } from './summary-text.js';
import type { View } from '../results/view.js';

export type Fact = [label: string, value: string];

export interface Words {
  facts: Fact[];
  summary: string[];
  statistics: string[];
  recommendations: Recommendation[];
  /** A command line, quoted for a POSIX shell. */
  reproduction: string;
  /** What the command line needs but the document does not hold. */
  toFillIn: string[];
  environment: Fact[];
}

export const wordsOf = (view: View): Words => ({
  facts: headerFacts(view),
  summary: summaryText(view),
  statistics: statisticsText(view),
  recommendations: recommendations(view),
  reproduction: reproduction(view),
  toFillIn: toFillIn(view),
  environment: environmentFacts(view),
});
