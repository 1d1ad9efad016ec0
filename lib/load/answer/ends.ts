/** How the answers of a load ended, by reason, and those that lack the end which the server gives. */
import { DONE } from './openai.js';
import { endedEarly } from '../request-failure.js';
import type { RequestRecord } from '../request-record.js';

export interface AnswerEnd {
  /** The server's finish_reason; `[DONE] alone` without one. */
  reason: string;
  count: number;
}

export function endsOf(records: readonly RequestRecord[]): AnswerEnd[] {
  const byReason = new Map<string, number>();
  for (const { finishReason, tokens } of records) {
    const reason = finishReason ?? (tokens ? `${DONE} alone` : null);
    if (reason !== null) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
  }
  return [...byReason].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count);
}

interface Records {
  records: readonly RequestRecord[];
  warmup: readonly RequestRecord[];
}

/** An answer without the finish_reason or the [DONE] that others of the server have is cut, though its transport ended. */
export function withoutUnusualEnds({ records, warmup }: Records): Records {
  const all = [...warmup, ...records];
  const givesReason = all.some(({ finishReason }) => finishReason !== null);
  const givesDone = all.some(({ tokens }) => tokens?.isDone === true);
  const judged = (record: RequestRecord): RequestRecord => {
    const { tokens, finishReason } = record;
    const lacks = !tokens
      ? null
      : givesReason && finishReason === null
        ? 'a finish_reason'
        : givesDone && !tokens.isDone
          ? DONE
          : null;
    if (lacks === null) return record;
    const failure = endedEarly(
      `after ${(tokens?.gapsMs.length ?? 0) + 1} chunks with tokens`,
      `without ${lacks}, which other answers of this server have`,
    );
    return { ...record, failure, tokens: null };
  };
  return { records: records.map(judged), warmup: warmup.map(judged) };
}
