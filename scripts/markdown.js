// Tables in Markdown.
const cell = (text) => String(text).replaceAll('|', '\\|');
const line = (cells) => `| ${cells.map(cell).join(' | ')} |`;

export const table = (head, rows) => [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
