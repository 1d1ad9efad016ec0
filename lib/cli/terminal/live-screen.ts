/** Text on a terminal that is replaced in place. */

interface Terminal {
  columns?: number;
  rows?: number;
  write: (text: string) => boolean;
}

/** Terminal lines that a text takes, including wrapped ones. */
const heightOf = (lines: readonly string[], columns: number): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);

/** The part that fits above the cursor's line: a text that has scrolled could not be replaced. */
function fitting(lines: readonly string[], { columns = 80, rows = 24 }: Terminal): string[] {
  if (heightOf(lines, columns) < rows) return [...lines];
  const kept: string[] = [];
  for (const line of lines) {
    if (heightOf([...kept, line, ''], columns) >= rows) break;
    kept.push(line);
  }
  return [...kept, `${lines.length - kept.length} more lines`.slice(0, columns)];
}

export class LiveScreen {
  readonly #terminal: Terminal;
  #height = 0;
  #columns: number | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Plain text, without control characters. */
  paint(text: string): void {
    const { columns = 80 } = this.#terminal;
    const lines = fitting(text.split('\n'), this.#terminal);
    // After a change of width it is unknown how the terminal wrapped the old text, so that is left in place.
    const isKnown = this.#height > 0 && this.#columns === columns;
    const back = isKnown ? `\u001b[${this.#height}A\r\u001b[J` : '';
    this.#terminal.write(`${back}${lines.join('\n')}\n`);
    this.#height = heightOf(lines, columns);
    this.#columns = columns;
  }
}
