/** Findings of health checks: a check is named after what it expects, its finding after what was observed. */
const findings: Record<string, string> = {
  'SM clock steady': 'SM clock changed by more than 3 %',
  'no slowdown': 'clocks held back',
  'no slowdown while sampled': 'clocks held back while sampled',
  'performance state': 'performance state slower than P2',
  'no foreign GPU process': 'another process used the GPU',
  'outliers at most 5 %': 'more than 5 % outliers',
  'coefficient of variation at most 5 %': 'coefficient of variation above 5 %',
  'the context spins while it waits': 'the context does not spin while it waits',
  'host CPU at rest': 'host CPU is busy',
  'runs vary by at most 5 %': 'runs vary by more than 5 %',
  'GPU temperature back before every run': 'GPU still warm before a run',
  'GPU memory as before': 'GPU memory was not returned',
};

/** The finding of a failed check, as the beginning of a sentence; a neutral name is kept. */
export const findingText = (name: string): string =>
  Object.hasOwn(findings, name) ? (findings[name] as string) : name;

/** Checks of a metric's own samples, which medians and intervals allow for. */
const ofSamples = ['outliers at most 5 %', 'coefficient of variation at most 5 %', 'runs vary by at most 5 %'];

/** Whether to worry about failed checks, in a sentence or two; null if none failed. */
export function worryText(failed: readonly string[], simulated: boolean): string | null {
  if (failed.length === 0) return null;
  if (simulated)
    return 'Do not worry about these warnings: the GPU is simulated, so its numbers are no results anyway.';
  const disturbing = [...new Set(failed)].filter((name) => !ofSamples.includes(name)).map(findingText);
  const harmless = disturbing.length < new Set(failed).size;
  return [
    ...(disturbing.length > 0
      ? [
          `Worry about this: ${disturbing.join('; ')}. It can shift the numbers: measure again without it before you rely on them (--strict refuses to measure then).`,
        ]
      : []),
    ...(harmless ? ['Do not worry about outliers and variation: medians and intervals allow for them.'] : []),
  ].join(' ');
}

const OVER_ROUNDS = /^(.+): failed in (\d+ of \d+ rounds): ([^(]+?)( \([^()]*\))?$/;

/** Converts a health warning of schema version 1, which named the check; keeps any other. */
export function reworded(warning: string): string {
  const [, system, rounds, check = '', which = ''] = OVER_ROUNDS.exec(warning) ?? [];
  if (Object.hasOwn(findings, check)) return `${system}: ${findingText(check)} in ${rounds}${which}`;
  const [name = ''] = warning.split(': ', 1);
  return Object.hasOwn(findings, name) ? `${findingText(name)}${warning.slice(name.length)}` : warning;
}
