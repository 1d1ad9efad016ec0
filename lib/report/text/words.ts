/** The sentences of a report as plain data, shared by all formats. */
import type { Fact } from './fact.js';
import { answerOf } from '../../answer/answer.js';
import type { Answer } from '../../results/answer-schema.js';
import { environmentFacts, headerFacts } from '../tables/header.js';
import { reproduction, toFillIn } from '../tables/reproduction.js';
import { statisticsText } from './statistics.js';
import type { View } from '../../results/view.js';

export interface Words {
  facts: Fact[];
  answer: Answer;
  statistics: string[];
  /** Command lines that repeat the measurement, quoted for a POSIX shell. */
  reproduction: string;
  /** What the command lines need but the document does not hold. */
  toFillIn: string[];
  environment: Fact[];
}

export const wordsOf = (view: View): Words => ({
  facts: headerFacts(view),
  answer: answerOf(view.document),
  statistics: statisticsText(view),
  reproduction: reproduction(view),
  toFillIn: toFillIn(view),
  environment: environmentFacts(view),
});
