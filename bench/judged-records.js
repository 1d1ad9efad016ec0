// The recorded comparisons, judged by today's rules.
import { upgraded } from '../dist/results/upgraded.js';
import { judged } from '../dist/run/effects/judged.js';
import { jsonRecords } from './records.js';

/** Of a comparison: `then` has the recorded verdicts in today's words, `now` today's. */
export function judgedRecord({ name, content }) {
  const then = upgraded(content);
  return { name, then, now: judged(then) };
}

/** One after the other. */
export function* judgedRecords() {
  for (const record of jsonRecords()) if (record.kind === 'comparison') yield judgedRecord(record);
}
