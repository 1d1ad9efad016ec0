/** Metrics measured by the command line on a simulated card, and the comparison of them with what is expected. */
import { expect } from 'vitest';
import type { MetricResult, RunDocument } from '../../lib/results/document.js';
import { command, parseDocument } from '../cli/command.js';
import { isDisturbed } from '../undisturbed.js';
import { type Card, hasFp8, reasonOn } from './expected.js';

const FEW = ['--iterations', '1', '--simulate', '--json', '-'];
const MOST_TIMES = 5;

export interface OnCard {
  gpu: RunDocument['gpu'][number];
  metrics: readonly MetricResult[];
}

/** Measures again what says that the machine disturbed it. */
export async function measuredOn({ sim }: Pick<Card, 'sim'>, ids: readonly string[]): Promise<OnCard> {
  const metrics = new Map<string, MetricResult>();
  let missing = [...ids];
  for (let time = 1; ; time++) {
    const { stdout } = await command(['run', ...missing, ...FEW], {}, sim);
    const document = parseDocument(stdout);
    for (const metric of document.metrics) metrics.set(metric.id, metric);
    missing = document.metrics.filter(isDisturbed).map(({ id }) => id);
    const [gpu] = document.gpu;
    if (gpu && (missing.length === 0 || time === MOST_TIMES)) return { gpu, metrics: [...metrics.values()] };
  }
}

interface Format {
  number: string;
  unsupported?: string;
}

/** Every metric is `ok`, or `unsupported` with the reason of the table; the card is what it says. */
export function expectAsExpected(card: Card, ids: readonly string[], { gpu, metrics }: OnCard): void {
  const { product, computeCapability, multiprocessors, memoryMib } = card;
  expect(gpu).toMatchObject({ name: product, computeCapability, multiprocessors });
  expect(Math.round(gpu.memoryBytes / 2 ** 20)).toBe(memoryMib);
  const found = Object.fromEntries(metrics.map(({ id, status, reason = '' }) => [id, [status, reason]]));
  const wanted = Object.fromEntries(
    ids.map((id) => {
      const reason = reasonOn(card, id);
      return [id, reason === null ? ['ok', ''] : ['unsupported', expect.stringContaining(reason) as string]];
    }),
  );
  expect(found).toEqual(wanted);
  const precision = metrics.find(({ id, status }) => id === 'LLM-008' && status === 'ok');
  for (const { number, unsupported } of (precision?.details.formats ?? []) as Format[])
    expect([number, unsupported === undefined]).toEqual([number, number !== 'fp8 e4m3' || hasFp8(card)]);
}
