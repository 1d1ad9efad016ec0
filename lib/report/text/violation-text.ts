/** Text of violations, shared by all formats. */
import { plain } from '../../results/text/plain.js';
import type { Violation } from '../../results/violations.js';

const violationText = ({ system, metric, detail }: Violation): string => plain(`${system}, ${metric}: ${detail}`);

/** Formats violations for the terminal; empty if there are none. */
export const violationLines = (violations: readonly Violation[]): string[] =>
  violations.length === 0 ? [] : [violations.map((one) => `VIOLATION: ${violationText(one)}`).join('\n')];
