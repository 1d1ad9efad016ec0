/** CKPT-009: which features a process may use and still be checkpointed. */
import * as v from 'valibot';
import { messageOf } from '../../errors/message-of.js';
import { BenchError } from '../../errors/bench-error.js';
import type { CheckpointCall } from '../../native/addon-types.js';
import { choice, described, flag, rows, text } from '../core/details.js';
import { type MetricDefinition, unsupported } from '../core/metric.js';
import { measureFunction } from '../core/measure-function.js';
import { MIB } from '../core/units.js';
import { type Feature, FEATURES } from './features.js';
import { allHold, inStudy, type TargetStudy } from './target-study.js';

const feature = text('What the process uses');
const answer = (call: string) => v.nullable(text(`What the ${call} returned; null: not called`));

const details = v.strictObject({
  rows: rows(
    v.union([
      v.strictObject({
        feature,
        documented: choice(['works', 'refused'], 'What NVIDIA documents for driver 580'),
        lock: answer('lock'),
        checkpoint: answer('checkpoint'),
        restore: answer('restore'),
        unlock: answer('unlock'),
        works: flag('Whether the process and the feature worked afterwards'),
        behaves: described(v.boolean(), 'Whether it worked after a restore, or after a refusal that is documented'),
        why: v.nullable(text('Why it does not behave so; null if it does')),
      }),
      v.strictObject({ feature, unsupported: text('Why it was not tried') }),
    ]),
    'A row per feature',
  ),
});

export type CheckpointFeaturesDetails = v.InferOutput<typeof details>;
type Row = CheckpointFeaturesDetails['rows'][number];

/** What each target holds beside what the feature takes. */
const BYTES = 16 * MIB;
/** Time for a load to begin before the lock. */
const BEGIN_MS = 300;
const CALLS = ['lock', 'checkpoint', 'restore', 'unlock'] as const satisfies readonly CheckpointCall[];
type Phases = Record<(typeof CALLS)[number], string | null>;

const said = ({ name, code }: { name: string; code: number }) => (code === 0 ? 'success' : `${name} (${code})`);

/** Calls until one is refused; a process that is still locked is unlocked. */
async function phasesOf(study: TargetStudy, target: Parameters<TargetStudy['answer']>[1]): Promise<Phases> {
  const phases: Phases = { lock: null, checkpoint: null, restore: null, unlock: null };
  for (const call of CALLS) {
    const answered = await study.answer(call, target, BYTES);
    phases[call] = said(answered);
    if (answered.code === 0) continue;
    if (call === 'checkpoint') phases.unlock = said(await study.answer('unlock', target, BYTES));
    break;
  }
  return phases;
}

async function tryFeature(study: TargetStudy, tried: Feature): Promise<Row> {
  const { name, documented } = tried;
  const target = await study.hold(BYTES);
  try {
    try {
      await tried.use(target);
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      return { feature: name, unsupported: messageOf(error) };
    }
    const running = tried.meanwhile?.(target);
    running?.catch(() => undefined); // awaited below
    if (running) await new Promise((resolve) => setTimeout(resolve, BEGIN_MS));
    const phases = await phasesOf(study, target);
    const why = await (async () => {
      if (phases.unlock !== null && phases.unlock !== 'success') return `it stays locked: ${phases.unlock}`;
      // It would never answer.
      if (phases.restore !== null && phases.restore !== 'success') return `it is not restored: ${phases.restore}`;
      await running;
      if (!allHold(await study.verify(target, BYTES))) return 'the process lost what it held';
      return (await tried.stillWorks(target)) ? null : 'it does not hold what was written to it';
    })().catch(messageOf);
    const works = why === null;
    const refused = CALLS.find((call) => phases[call] !== 'success');
    const isUndocumented = refused !== undefined && documented === 'works';
    return {
      feature: name,
      documented,
      ...phases,
      works,
      behaves: works && !isUndocumented,
      why: why ?? (isUndocumented ? `${refused}: ${phases[refused]}` : null),
    };
  } finally {
    await target.kill();
  }
}

export const checkpointFeatures: MetricDefinition<CheckpointFeaturesDetails> = {
  id: 'CKPT-009',
  name: 'Checkpoint Features',
  category: 'checkpoint',
  unit: '%',
  direction: 'higher',
  question: 'Which programs can be checkpointed, and is a refusal harmless?',
  estimator: 'features with which a process works after its restore, or after a documented refusal, of those tried',
  delta: { absolute: 1 },
  needs: ['checkpoints (driver 570)', 'fresh processes'],
  functionName: 'measureCheckpointFeatures',
  where: 'fresh-processes',
  details,
  seconds: { quick: 40, standard: 40, thorough: 40 },
  deadlineSeconds: 3_600,
  async measure(context) {
    const tried = await inStudy(context, async (study) => {
      const all: Row[] = [];
      for (const [i, each] of FEATURES.entries()) {
        context.progress(each.name, i / FEATURES.length);
        all.push(await tryFeature(study, each));
        const [plain] = all;
        // Nothing can be said of a feature where no process is checkpointed, such as a client of MPS.
        if (i === 0 && plain && 'checkpoint' in plain && plain.restore === null) break;
      }
      return all;
    });
    const counted = tried.flatMap((row) => ('behaves' in row ? [row] : []));
    const [plain] = counted;
    if (!plain || plain.restore === null)
      return {
        ...unsupported(`the driver checkpoints no process here: ${plain?.why ?? 'none was tried'}`),
        details: { rows: tried },
      };
    return {
      value: (100 * counted.filter(({ behaves }) => behaves).length) / counted.length,
      ci95: null,
      processes: counted.length,
      headline: null,
      details: { rows: tried },
      checks: [],
    };
  },
};

/**
 * CKPT-009, %: features with which a process works after a checkpoint and a restore, or after a refusal that NVIDIA
 * documents; `details.rows` has what each call returned.
 */
export const measureCheckpointFeatures = measureFunction(checkpointFeatures);
