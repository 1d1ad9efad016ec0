import { describe, expect, it } from 'vitest';
import { LiveScreen } from '../../../lib/cli/terminal/live-screen.js';
import { sampleLine, samplesTable } from '../../../lib/report/tables/monitor-view.js';
import { shownOn } from '../../../lib/report/text/screen.js';
import { gpuSample } from './fixtures.js';

const on = (width: number, hasUtf8 = true) => ({ width, hasUtf8 });
const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

const processes = [
  { pid: 4711, gpuPercent: 61, memoryPercent: 3, memoryUsedMib: 600, mpsClient: false },
  { pid: 4712, gpuPercent: null, memoryPercent: null, memoryUsedMib: null, mpsClient: null },
];
const two = [
  gpuSample({ processes }),
  gpuSample({ gpu: 1, gpuPercent: null, powerW: null, clockReasons: ['power cap'] }),
];

describe('the table of samples', () => {
  it('has a row for each GPU and each process, and a dash for unknown values', () => {
    const lines = samplesTable(two, on(200)).split('\n');
    expect(lines[0]).toMatch(/^GPU +GPU % +Mem % +Memory MiB +Power W +°C +SM MHz +Mem MHz +PCIe/);
    expect(lines[1]).toMatch(/^ *0 +50 +10 +1024 \/ 4096 +100\.5 +40 +1980 +2619 +12\.5 \/ 0 +1000 \/ 5 +none$/);
    expect(lines[2]).toMatch(/^ *1 +– .* – +40 .*power cap$/);
    expect(lines.slice(4).map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['PID', 'GPU', 'GPU %', 'Mem %', 'Memory MiB'],
      ['4711', '0', '61', '3', '600'],
      ['4712', '0', '–', '–', '–'],
    ]);
  });

  it.each([40, 60, 80, 120])(
    'fits %d columns, with utilisation and memory, and names the columns it leaves out',
    (width) => {
      const text = samplesTable(two, on(width));
      expect(widest(text.replace(/^Omitted.*$/gm, ''))).toBeLessThanOrEqual(width);
      expect(text).toMatch(/GPU %/);
      expect(text).toMatch(/1024 \/ 4096/);
      if (width < 80) expect(text).toMatch(new RegExp(`Omitted at ${width} columns: .*Mem MHz`));
    },
  );

  it('is plain ASCII if the locale has no UTF-8', () => {
    const text = samplesTable(two, on(200, false));
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    expect(text).toContain('deg C');
  });
});

describe('the line of a sample', () => {
  it("contains NVML's values, with units", () =>
    expect(sampleLine(gpuSample({ timeS: 12.34, processes }))).toBe(
      '12.3 s, GPU 0: GPU 50 %, memory 10 %, 1024 / 4096 MiB, 100.5 W, 40 °C, SM 1980 MHz, memory 2619 MHz, PCIe 12.5 / 0 MB/s, NVLink 1000 / 5 MB/s, clocks: none, 2 processes',
    ));

  it('leaves out missing values, and is ASCII if required', () => {
    const none = { gpuPercent: null, memoryPercent: null, memoryUsedMib: null, powerW: null, smClockMhz: null };
    const others = { memoryClockMhz: null, pcieRxMbS: null, nvlinkRxMbS: null, clockReasons: null };
    const line = sampleLine(gpuSample({ ...none, ...others }));
    expect(line).toBe('0.0 s, GPU 0: 40 °C, 0 processes');
    expect(shownOn(on(80, false), line)).toBe('0.0 s, GPU 0: 40 deg C, 0 processes');
  });
});

const ESC = '\u001b';
const COMMANDS = new RegExp(`(${ESC}\\[\\d*[AJ]|\\r|\\n)`);
const UP = new RegExp(`^${ESC}\\[(\\d+)A$`);

/** A terminal that supports the few commands that the screen uses. */
class Paper {
  rows = 8;
  columns = 20;
  lines = [''];
  /** Lines that have scrolled away cannot be changed. */
  write(text: string): boolean {
    for (const part of text.split(COMMANDS)) {
      const up = UP.exec(part);
      if (up) this.#row = Math.max(this.#row - Number(up[1]), this.lines.length - this.rows);
      else if (part === '\u001b[J') this.lines.length = this.#row + 1;
      else if (part === '\n') this.lines[++this.#row] ??= '';
      else if (part !== '\r' && part !== '') this.#type(part);
    }
    return true;
  }
  #row = 0;
  #type(text: string): void {
    const [first = '', ...rest] = text.match(new RegExp(`.{1,${this.columns}}`, 'g')) ?? [];
    this.lines[this.#row] = first;
    for (const more of rest) this.lines[++this.#row] = more;
  }
}

describe('the live screen', () => {
  it('replaces its text, even if lines wrap or the new text is shorter', () => {
    const paper = new Paper();
    const live = new LiveScreen(paper);
    live.paint('one\nthis line is longer than twenty\nthree');
    live.paint('ONE\ntwo');
    expect(paper.lines.map((line) => line.trim())).toEqual(['ONE', 'two', '']);
    live.paint('again\ntwo\nthree');
    expect(paper.lines).toEqual(['again', 'two', 'three', '']);
  });

  it('reports how many lines do not fit, and still replaces its whole text', () => {
    const paper = new Paper();
    const live = new LiveScreen(paper);
    const many = Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n');
    live.paint(many);
    expect(paper.lines).toEqual(['line 0', 'line 1', 'line 2', 'line 3', 'line 4', 'line 5', '14 more lines', '']);
    live.paint(many.replaceAll('line', 'LINE'));
    expect(paper.lines).toHaveLength(8);
    expect(paper.lines[0]).toBe('LINE 0');
  });

  it('leaves its text in place if the terminal became narrower, because the wrapping is unknown', () => {
    const paper = new Paper();
    const live = new LiveScreen(paper);
    live.paint('before');
    paper.columns = 10;
    live.paint('after');
    expect(paper.lines).toEqual(['before', 'after', '']);
  });
});
