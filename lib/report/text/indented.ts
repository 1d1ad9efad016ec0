/** Formats a titled list for the terminal; empty if there are no lines. */
export const indented = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`];
