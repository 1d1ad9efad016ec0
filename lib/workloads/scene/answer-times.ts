/** When a program of a scene gave answers, to find the first one after each switch. */
import type { RequestRecord } from '../../load/request-record.js';

/** Far more than the turns of a run; later answers are not kept. */
const MOST_ANSWERS = 1_000_000;
const NS_PER_MS = 1e6;

export class AnswerTimes {
  readonly #ns: number[] = [];

  /** `atNs`: of CLOCK_MONOTONIC. */
  note(atNs: number): void {
    if (this.#ns.length < MOST_ANSWERS) this.#ns.push(atNs);
  }

  /** Notes the tokens of a request's answer, or the answer itself; a failed request has none. */
  noteRequest({ failure, tokens, endMs }: Pick<RequestRecord, 'failure' | 'tokens' | 'endMs'>): void {
    if (failure !== null) return;
    if (tokens === null) return this.note(NS_PER_MS * endMs);
    let ms = tokens.firstMs;
    this.note(NS_PER_MS * ms);
    for (const gap of tokens.gapsMs) this.note(NS_PER_MS * (ms += gap));
  }

  /** The first answer from one time to another; null: there was none. */
  firstIn(fromNs: number, toNs: number): number | null {
    // Not in order: a request that is answered later may have begun to answer earlier.
    const first = this.#ns.reduce((least, ns) => (ns >= fromNs && ns < least ? ns : least), Infinity);
    return first < toNs ? first : null;
  }
}
