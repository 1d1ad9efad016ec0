/** `gpu-virt-bench exec [--system SPEC]… -- COMMAND…` and `exec --config FILE` */
import { planExecution } from '../../api/exec.js';
import { refuseUnavailable } from '../../run/plan/unavailable.js';
import { writeText } from '../files/output.js';
import { exitCodes } from '../options/exit-codes.js';
import { parseRunOptions } from '../options/options.js';
import { measureAndPublish } from '../comparing/measure-and-publish.js';
import { roundsGiven } from '../comparing/rounds-given.js';
import { execPlanText } from '../comparing/exec-plan.js';
import { type RawExecOptions, subjectsOfExec } from '../comparing/exec-subjects.js';
import { prepareGating } from '../comparing/gating.js';
import { LogPlaces } from '../comparing/log-places.js';
import { checkUnchanged, continuedOptions, describeRequest, readRequest } from '../comparing/stored-request.js';
import { sayUnavailable, toleranceOf } from '../comparing/tolerance.js';

/** `isGiven` tells whether the user named an option, as for `compare`. */
export async function exec(
  command: string[],
  given: RawExecOptions,
  isGiven: (option: string) => boolean,
): Promise<number> {
  const stored = given.resume === undefined ? null : await readRequest(given.resume, 'exec');
  const raw = { ...given, ...(stored && continuedOptions(stored, isGiven)), path: 'runtime' };
  // In exec, these three are for a run; in other commands they are for a metric.
  const { warmup: _warmup, iterations: _iterations, timeout: _timeout, ...measuring } = raw;
  const options = parseRunOptions(measuring);
  const { systems, sources, prices } = await subjectsOfExec(command, raw, stored);
  const places = new LogPlaces();
  const execution = planExecution({
    systems,
    sources,
    tier: options.tier,
    seed: options.seed,
    rounds: roundsGiven(raw),
    tolerance: toleranceOf(raw),
    prices,
    logsOf: (workload) => places.of(workload),
  });
  const words = execPlanText(execution);
  const kept = await describeRequest(execution, raw, {
    sources,
    ...(prices && { prices: prices.source }),
  });
  if (stored) checkUnchanged(stored, kept, given.resume as string);
  const gating = await prepareGating(raw, execution, options.outputs);
  refuseUnavailable({ systems, ...execution.tolerance });
  if (options.dryRun) {
    await writeText(`${words.join('\n')}\n`);
    sayUnavailable(systems);
    return exitCodes.ok;
  }
  return measureAndPublish({
    raw,
    options,
    comparison: execution,
    words,
    kept,
    gating,
    inputs: [raw.gate, raw.config].filter((file) => file !== undefined),
    isResumed: stored !== null,
    onDirectory: (path) => places.in(path),
    onRound: (...round) => places.at(...round),
  });
}
