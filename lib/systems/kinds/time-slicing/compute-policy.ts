/** The length of a time slice as `nvidia-smi compute-policy -l` says it: a word, whose duration is not documented. */

const words = /\b(default|short|medium|long)\b/i;

/** The word for a GPU; null if the answer has none. */
export function sliceIn(answer: string, index: number): string | null {
  const rows = answer.split('\n').map((line) => line.replaceAll('|', ' ').trim());
  const row = rows.find((line) => new RegExp(`^(GPU\\s+)?${index}\\b`, 'i').test(line) && words.test(line));
  return row === undefined ? null : (words.exec(row)?.[1]?.toLowerCase() ?? null);
}
