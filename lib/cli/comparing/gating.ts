/** --baseline and --gate of `compare`. */
import type { Comparison } from '../../api/comparison.js';
import { fewestRounds } from '../../api/rounds.js';
import { messageOf } from '../../errors/message-of.js';
import { UsageError } from '../../errors/usage-error.js';
import { checkKinds, checkSameWorld, checkShared } from '../../gate/against-baseline.js';
import type { GateDocument } from '../../gate/document.js';
import { checkRounds, gate as judge } from '../../gate/gate.js';
import { checkSystems, relabelledThresholds, type Thresholds } from '../../gate/thresholds.js';
import type { MetricDefinition } from '../../metrics/core/metric.js';
import { gateReport } from '../../report/formats/gate.js';
import { junitReport, unjudgedJunitReport } from '../../report/formats/junit.js';
import { isComparison, type ResultDocument } from '../../results/kinds.js';
import { type Baseline, relabelledBaseline } from '../../saved/baseline-store.js';
import { exitCodeOf, exitCodes } from '../options/exit-codes.js';
import { exitCodeOfGate } from '../options/result-codes.js';
import { storedBaseline, thresholdsOf } from '../options/gate-inputs.js';
import { junitTargets } from '../files/junit-file.js';
import { failureOf, STDOUT, writeStdout, writeText, writeWhole } from '../files/output.js';
import type { Output } from '../options/document-outputs.js';
import { errorLine, say, warn } from '../terminal/talk.js';

/** Options of `compare` that judge what was measured. */
export interface RawGating {
  baseline?: string;
  gate?: string;
  store?: string;
}

export interface Gating {
  /** Called as soon as a worker has seen the GPU. */
  checkWorld: (simulated: boolean) => void;
  conclude: (document: ResultDocument) => Conclusion;
}

export interface Conclusion {
  exitCode: number;
  /** Writes the JUnit files; returns the errors. */
  writeFiles: () => Promise<Error[]>;
  /** Prints the report, and JUnit if it goes to standard output; `free`: nothing else is printed there. */
  tell: (free: boolean) => Promise<Error[]>;
}

/** Reads and checks everything possible before anything is measured; null if nothing is judged. */
export async function prepareGating(
  raw: RawGating,
  { systems, rounds, definitions: metrics }: Pick<Comparison, 'systems' | 'rounds' | 'definitions'>,
  outputs: readonly Output[],
): Promise<Gating | null> {
  if (raw.baseline === undefined && raw.gate === undefined) {
    if (raw.store === undefined) return null;
    throw new UsageError('Expected --store together with --baseline but received it alone.');
  }
  checkRounds(fewestRounds(rounds));
  const names = systems.map(({ name }) => name);
  const thresholds = relabelledThresholds(await thresholdsOf(raw.gate, '--gate', metrics), names);
  const stored = await storedBaseline(raw.baseline, raw.store);
  const baseline = stored && relabelledBaseline(stored, names);
  checkSystems(thresholds, names);
  if (baseline) {
    checkShared(names, baseline);
    checkKinds(systems, baseline);
  }
  const junit = junitTargets(outputs);
  return {
    checkWorld: (simulated) => baseline && checkSameWorld(simulated, baseline),
    conclude: (document) => conclude(verdictOn(document, thresholds, baseline, metrics), junit),
  };
}

interface Verdict {
  exitCode: number;
  /** Null if nothing was judged. */
  found: GateDocument | null;
  junit: string;
  /** Prints why nothing was judged. */
  say: () => void;
}

/** A gate that cannot be applied must not discard results. */
function verdictOn(
  document: ResultDocument,
  thresholds: Thresholds,
  baseline: Baseline | null,
  metrics: readonly MetricDefinition[],
): Verdict {
  if (!document.completed) {
    const isStopped = isComparison(document) && document.stopped !== undefined;
    const why = isStopped ? 'nothing was left to compare' : 'the measurement was interrupted';
    const reason = `The gate was not checked because ${why}.`;
    return {
      exitCode: exitCodes.ok,
      found: null,
      junit: unjudgedJunitReport('interrupted', reason),
      say: () => say(reason),
    };
  }
  try {
    const found = judge(document, thresholds, baseline, metrics);
    return {
      exitCode: exitCodeOfGate(found),
      found,
      junit: junitReport(found),
      say: () => found.warnings.forEach(warn),
    };
  } catch (error) {
    return {
      exitCode: exitCodeOf(error),
      found: null,
      junit: unjudgedJunitReport('refused', messageOf(error)),
      say: () => void process.stderr.write(errorLine(error)),
    };
  }
}

function conclude({ exitCode, found, junit, say: sayWhy }: Verdict, targets: readonly string[]): Conclusion {
  const writeFiles = async () => {
    const failures: (Error | null)[] = [];
    for (const target of targets) if (target !== STDOUT) failures.push(await failureOf(writeWhole(target, junit)));
    return failures.filter((failure) => failure !== null);
  };
  const tell = async (free: boolean) => {
    const report = found && gateReport(found);
    const writing = targets.includes(STDOUT)
      ? writeStdout(junit)
      : free && report !== null
        ? writeText(`\n${report}\n`)
        : null;
    const failure = writing && (await failureOf(writing));
    if (!free && report !== null) say(report);
    sayWhy();
    return failure ? [failure] : [];
  };
  return { exitCode, writeFiles, tell };
}
