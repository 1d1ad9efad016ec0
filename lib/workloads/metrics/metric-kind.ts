/** What one metric of a program is, and how it is read from a finished run. */
import type { Measured } from '../../metrics/core/metric.js';
import type { PerChoice } from '../../metrics/core/per.js';
import type { Delta } from '../../stats/rule/effect.js';
import type { MeasuredRun } from '../program/measured-run.js';
import type { Reading } from './reading.js';

export interface Kind {
  name: string;
  unit: string;
  question: string;
  delta: Delta;
  per?: PerChoice;
  of: (run: MeasuredRun) => Reading;
  /** What else its results say. */
  details?: (runs: readonly MeasuredRun[]) => Measured['details'];
}
