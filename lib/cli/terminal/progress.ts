/**
 * Progress on stderr: a spinner on a terminal, a line per finished metric everywhere. Long steps are never silent: a
 * terminal shows the seconds, other outputs get a line.
 */
import yoctoSpinner from 'yocto-spinner';
import type { MetricResult } from '../../results/document.js';
import { screen, shown } from '../../report/text/screen.js';
import { plain } from '../../results/text/plain.js';
import { quantity } from '../../results/text/quantity.js';
import { say } from './talk.js';

export interface ProgressDisplay {
  doing(text: string): void;
  finished(result: MetricResult): void;
  /** Prints while the spinner is paused. */
  aside(speak: () => void): void;
  stop(): void;
}

/** Time until the first line that says what it waits for, and between further ones. */
const FIRST_LINE_MS = 10_000;
const NEXT_LINE_MS = 60_000;
const TICK_MS = 1_000;
/** The spinner of a locale without UTF-8. */
const ASCII = { frames: ['-', '\\', '|', '/'], interval: 130 };

export function progressDisplay(): ProgressDisplay {
  const spinner = process.stderr.isTTY
    ? yoctoSpinner({ stream: process.stderr, handleSignals: false, ...(screen().hasUtf8 ? {} : { spinner: ASCII }) })
    : null;
  // Exiting early must not leave the cursor hidden.
  if (spinner) process.once('exit', () => spinner.stop());
  let now = { text: '', since: performance.now() };
  let spoken = { at: performance.now(), patience: FIRST_LINE_MS };
  const seconds = (since: number) => Math.floor((performance.now() - since) / 1_000);
  const tick = () => {
    if (now.text === '') return;
    if (spinner) spinner.text = shown(`${now.text}${seconds(now.since) < 2 ? '' : ` (${seconds(now.since)} s)`}`);
    else if (performance.now() - spoken.at >= spoken.patience) {
      say(`Still running (no output for ${seconds(spoken.at)} s): ${now.text}`);
      spoken = { at: performance.now(), patience: NEXT_LINE_MS };
    }
  };
  const timer = setInterval(tick, TICK_MS).unref();
  const aside = (speak: () => void) => {
    const wasSpinning = spinner?.isSpinning ?? false;
    spinner?.stop();
    speak();
    spoken = { at: performance.now(), patience: FIRST_LINE_MS };
    if (wasSpinning) spinner?.start();
  };
  return {
    aside,
    doing(text) {
      const line = plain(text);
      if (line !== now.text) now = { text: line, since: performance.now() };
      if (!spinner) return;
      spinner.text = shown(line);
      if (!spinner.isSpinning) spinner.start();
    },
    finished: (result) => aside(() => say(resultLine(result))),
    stop() {
      clearInterval(timer);
      spinner?.stop();
    },
  };
}

function resultLine({ id, name, status, reason, value, unit }: MetricResult): string {
  const outcome = value === null ? [status, reason].filter(Boolean).join(': ') : quantity(value, unit);
  return plain(`${id} ${name}: ${outcome}`);
}
