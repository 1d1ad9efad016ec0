// The recorded comparisons, judged by today's rules.
import { upgraded } from '../dist/results/upgraded.js';
import { judged } from '../dist/run/judged.js';
import { jsonRecords } from './records.js';

/** One after the other: `then` has the recorded verdicts in today's words, `now` today's. */
export function* judgedRecords() {
  for (const { name, kind, content } of jsonRecords()) {
    if (kind !== 'comparison') continue;
    const then = upgraded(content);
    yield { name, then, now: judged(then) };
  }
}
