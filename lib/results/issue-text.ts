/** What a schema found wrong in a file. */
import * as v from 'valibot';

const LONGEST_QUOTE = 160;

/** `at metrics.0.status: it is missing`. */
export function issueText(issue: v.BaseIssue<unknown>): string {
  const at = v.getDotPath(issue);
  const what = issue.received === 'undefined' ? 'it is missing' : issue.message;
  return `${at ? `at ${at}: ` : ''}${what}`.slice(0, LONGEST_QUOTE);
}
