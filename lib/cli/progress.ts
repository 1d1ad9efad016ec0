/** Progress on stderr: a spinner for people, a line per finished metric for everybody. */
import yoctoSpinner from 'yocto-spinner';
import type { MetricResult } from '../document.js';
import { number, plain } from '../report/plain.js';
import { say } from './talk.js';

export interface ProgressDisplay {
  doing(text: string): void;
  finished(result: MetricResult): void;
  /** Says something while nothing moves. */
  aside(speak: () => void): void;
  stop(): void;
}

export function progressDisplay(): ProgressDisplay {
  const spinner = process.stderr.isTTY ? yoctoSpinner({ stream: process.stderr, handleSignals: false }) : null;
  // Leaving at once must not leave the cursor hidden.
  if (spinner) process.once('exit', () => spinner.stop());
  const aside = (speak: () => void) => {
    const wasSpinning = spinner?.isSpinning ?? false;
    spinner?.stop();
    speak();
    if (wasSpinning) spinner?.start();
  };
  return {
    aside,
    doing(text) {
      if (!spinner) return;
      spinner.text = plain(text);
      if (!spinner.isSpinning) spinner.start();
    },
    finished: (result) => aside(() => say(resultLine(result))),
    stop: () => spinner?.stop(),
  };
}

export function resultLine({ id, name, status, reason, value, unit }: MetricResult): string {
  const outcome = value === null ? [status, reason].filter(Boolean).join(': ') : `${number(value)} ${unit}`;
  return plain(`${id} ${name}: ${outcome}`);
}
