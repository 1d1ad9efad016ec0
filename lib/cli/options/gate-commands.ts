/** The commands and options that check results against thresholds and compare them with earlier results. */
import type { Command } from 'commander';
import { DEFAULT_MAX_REGRESSION_PERCENT } from '../../gate/defaults.js';
import { done } from '../process/done.js';
import type { RawGateOptions } from '../commands/gate.js';
import type { RawHistoryOptions } from '../commands/history.js';
import { JSON_OPTION, type RawJson } from './json-option.js';
import { refusingOptionsAsValues } from './option-values.js';

const STORE = ['--store <dir>', 'the directory of baselines (default: ./baselines)'] as const;
const FILE = 'a document or a result directory (default: the newest complete directory below ./results)';
const LIMIT = '50';

export function addGate(root: Command): void {
  const gate = root
    .command('gate')
    .description('Check results against thresholds; exit with 3 if one is not met')
    .argument('[file]', FILE)
    .option(
      '--config <file>',
      `thresholds from a YAML file (default: no measured metric more than ${DEFAULT_MAX_REGRESSION_PERCENT} % worse; inconclusive passes; a metric named by its id must be measured)`,
    )
    .option(
      '--baseline <name>',
      'compare with a stored baseline (default: each system with the first of its own comparison)',
    )
    .option(...STORE)
    .option('--json <file>', 'write the cases as JSON, - for stdout (default: none)')
    .option('--junit <file>', 'write the cases as JUnit XML, - for stdout (default: none)')
    .action(async (file: string | undefined, raw: RawGateOptions) =>
      done((await import('../commands/gate.js')).gate(file, raw)),
    );
  refusingOptionsAsValues(gate);
}

/** Adds the options of `compare` that judge its results. */
export const addGating = (compare: Command): Command =>
  refusingOptionsAsValues(
    compare
      .option(
        '--baseline <name>',
        'check against a stored baseline; exit with 3 if the result is worse (default: none)',
      )
      .option(
        '--gate <file>',
        'check against thresholds from a YAML file, as gate --config does (default: with --baseline those of gate, else none)',
      )
      .option(...STORE),
  );

export function addBaseline(root: Command): void {
  const baseline = root.command('baseline').description('Manage baselines: stored results to compare later ones with');
  baseline
    .command('save')
    .description('Store results as a baseline under a name')
    .argument('<name>', "letters, digits, '.', '_' and '-'")
    .argument('[file]', FILE)
    .option(...STORE)
    .option('--force', 'replace a baseline of this name (default: refuse)')
    .action(async (name: string, file: string | undefined, raw: { store?: string; force?: true }) =>
      done((await import('../commands/baseline.js')).saveBaseline(name, file, raw)),
    );
  baseline
    .command('promote')
    .description('Replace a stored baseline with newer results, if they pass the gate against it')
    .argument('<name>')
    .argument('[file]', FILE)
    .option('--config <file>', 'thresholds of the gate from a YAML file (default: those of gate)')
    .option(...STORE)
    .action(async (name: string, file: string | undefined, raw: { store?: string; config?: string }) =>
      done((await import('../commands/baseline.js')).promoteBaseline(name, file, raw)),
    );
  baseline
    .command('list')
    .description('List the stored baselines: date, GPU, systems')
    .option(...STORE)
    .option(JSON_OPTION, 'as JSON, into a file or on stdout (default: a table)')
    .action(async (raw: { store?: string } & RawJson) =>
      done((await import('../commands/baseline.js')).listBaselines(raw)),
    );
  baseline
    .command('remove')
    .description('Delete a stored baseline')
    .argument('<name>')
    .option(...STORE)
    .action(async (name: string, raw: { store?: string }) =>
      done((await import('../commands/baseline.js')).removeBaseline(name, raw)),
    );
  baseline.commands.forEach(refusingOptionsAsValues);
}

export function addHistory(root: Command): void {
  const history = root
    .command('history')
    .description('Show earlier results, oldest first, and the trend of each metric on each GPU')
    .argument('[selector...]', "metric ids, globs over ids, categories, e.g. OH-001 'OH-*' overhead (default: all)")
    .option('--results <dir>', 'the directory that contains result directories (default: ./results)')
    .option(...STORE)
    .option('--limit <n>', 'how many of the newest directories to read; baselines are always read', LIMIT)
    .option('--json', 'as JSON on stdout (default: tables)')
    .action(async (selectors: string[], raw: RawHistoryOptions) =>
      done((await import('../commands/history.js')).history(selectors, raw)),
    );
  refusingOptionsAsValues(history);
}
