/** What a document says of the turns of tenants that do not run at the same time. */
import * as v from 'valibot';
import type { RotationReport, Switch } from '../../checkpoint/rotation.js';
import type { System } from '../../systems/system.js';
import { median } from '../../stats/median.js';
import { count, described, quantity } from '../core/details.js';
import { NS_PER_MS } from '../core/units.js';
import { changesIn, type Times } from './turns.js';

/** Turns of each tenant in a common window: fewer would measure where the window begins. */
const TURNS_EACH = 4;

export const rotationField = v.optional(
  described(
    v.strictObject({
      sliceMs: quantity('ms', 'How long a tenant stays on the card while others wait'),
      switches: count('Switches of the tenant on the card'),
      lockMs: quantity('ms', 'Median time of the locks of a switch'),
      checkpointMs: quantity('ms', 'Median time of the checkpoints of a switch'),
      restoreMs: quantity('ms', 'Median time of the restores of a switch; 0 where the next tenant has just started'),
      unlockMs: quantity('ms', 'Median time of the unlocks of a switch'),
      wholeMs: quantity('ms', 'Median time from the first lock to the last unlock'),
      firstTokenMs: v.optional(
        v.nullable(
          quantity(
            'ms',
            'Median time from the last token of one tenant to the first of the next; null if none followed',
          ),
        ),
      ),
      mostUsedBytes: v.nullable(count('Most memory in use on the card by NVML, around every switch')),
    }),
    'Turns of the tenants, under a system whose tenants do not run at the same time',
  ),
);

/** Nothing where tenants run at the same time, or none had to wait. */
export function rotationOf(system: System, runs: readonly Times[]): v.InferOutput<typeof rotationField> {
  const { turnMs } = system;
  const report = system.turns?.();
  return turnMs === undefined || report === undefined ? undefined : rotationIn({ ...report, sliceMs: turnMs }, runs);
}

/** Nothing where no tenant had to wait. */
export function rotationIn(
  { sliceMs, switches, mostUsedBytes }: Omit<RotationReport, 'failure'> & { sliceMs: number },
  runs?: readonly Times[],
): v.InferOutput<typeof rotationField> {
  if (switches.length === 0) return undefined;
  const full = restoring(switches);
  const of = (key: Phase, among = switches) => (among.length === 0 ? 0 : median(among.map((each) => each[key])).value);
  return {
    sliceMs,
    switches: switches.length,
    lockMs: of('lockMs'),
    checkpointMs: of('checkpointMs'),
    restoreMs: of('restoreMs', full),
    unlockMs: of('unlockMs', full),
    wholeMs: of('wholeMs', full),
    ...(runs && { firstTokenMs: firstTokenMs(runs) }),
    mostUsedBytes,
  };
}

type Phase = 'lockMs' | 'checkpointMs' | 'restoreMs' | 'unlockMs' | 'wholeMs';

/** Switches to a tenant that has been on the card before: where it only starts, nothing is restored. */
export const restoring = <S extends Switch>(switches: readonly S[]): S[] =>
  switches.filter(({ restoreMs }) => restoreMs > 0);

/** Long enough for several turns of each tenant, and the switches between them, where they take turns. */
export function acrossTurns(windowMs: number, tenants: number, system: System): number {
  const { turnMs } = system;
  if (turnMs === undefined || tenants < 2) return windowMs;
  const full = restoring(system.turns?.().switches ?? []);
  const switchMs = full.length === 0 ? 0 : median(full.map(({ wholeMs }) => wholeMs)).value;
  return Math.max(windowMs, Math.ceil(TURNS_EACH * tenants * (turnMs + switchMs)));
}

/** Goes by the tokens alone, whatever the switches say of themselves. */
function firstTokenMs(runs: readonly Times[]): number | null {
  const waits = runs.flatMap(changesIn).map(({ before, first }) => (first.ns - before.ns) / NS_PER_MS);
  return waits.length === 0 ? null : median(waits).value;
}
