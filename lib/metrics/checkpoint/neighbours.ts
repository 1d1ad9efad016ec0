/** A tenant that serves requests while another one is checkpointed and restored, for CKPT-006. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Requests } from '../../native/addon-types.js';
import { loadAddon } from '../../native/load.js';
import { askSession } from '../../workers/session-task.js';
import type { WorkerTenant } from '../../workers/worker-tenant.js';
import type { MeasureContext } from '../core/metric.js';
import { NS_PER_MS } from '../core/units.js';
import { PERIOD_NS, pooled, type Served, servedIn, VICTIM } from '../isolation/victim-requests.js';
import { FIRST_ID } from '../tenants/scene.js';
import { hasRoom, type NoRoom, pilot } from './held-targets.js';
import { inStudy, type Move, type Turn } from './target-study.js';

const NEIGHBOUR = { id: FIRST_ID + 1 };
/** Time for the request to reach the neighbour, before its first arrival. */
const LEAD_MS = 200;
const CALIBRATION_MS = 50;
/** A window is this much longer than the turn before, which was the target's first and longest. */
const LONGER = 1.5;
const GRACE_MS = 60_000;

export const PHASES = ['lock', 'copy out', 'copy in', 'unlock'] as const;
type Phase = (typeof PHASES)[number];
const CALL: Record<Phase, keyof Move> = {
  lock: 'lock',
  'copy out': 'checkpoint',
  'copy in': 'restore',
  unlock: 'unlock',
};

export interface Neighboured {
  /** The target holds its memory and is idle. */
  alone: Served;
  /** From the lock until the unlock. */
  meanwhile: Served;
  phases: Record<Phase, Served>;
  turns: Turn[];
}

interface Plan {
  bytes: number;
  turns: number;
  aloneMs: number;
}

export const neighboured = (context: MeasureContext, plan: Plan): Promise<Neighboured | NoRoom> =>
  inStudy(context, async (study, scene) => {
    const { bytes, aloneMs } = plan;
    const { room } = await pilot(context, study);
    if (!hasRoom(bytes, room)) return { room };
    const neighbour = await scene.enter(NEIGHBOUR, 'victim');
    const { rounds } = await serve(neighbour, { startAtNs: loadAddon().now(), ms: CALIBRATION_MS, rounds: 0 });
    const target = await study.hold(bytes);
    try {
      const first = await study.turn(target, bytes);
      const windowMs = Math.ceil(aloneMs + LONGER * lasted(first) + LEAD_MS);
      const parts: Omit<Neighboured, 'turns'>[] = [];
      const turns: Turn[] = [];
      for (let i = 0; i < plan.turns; i++) {
        context.progress(`turn ${i + 1} of ${plan.turns}`, i / plan.turns);
        const startAtNs = loadAddon().now() + LEAD_MS * NS_PER_MS;
        const serving = serve(neighbour, { startAtNs, ms: windowMs, rounds });
        serving.catch(() => undefined); // awaited below
        await sleep(LEAD_MS + aloneMs);
        const turn = await study.turn(target, bytes);
        turns.push(turn);
        parts.push(partsOf(await serving, startAtNs, turn.move));
      }
      const all = (of: (part: (typeof parts)[number]) => Served) => pooled(parts.map(of));
      const phases = Object.fromEntries(PHASES.map((phase) => [phase, all((part) => part.phases[phase])]));
      return {
        alone: all(({ alone }) => alone),
        meanwhile: all(({ meanwhile }) => meanwhile),
        phases: phases as Record<Phase, Served>,
        turns: [first, ...turns],
      };
    } finally {
      await target.kill();
    }
  });

const lasted = ({ move: { lock, unlock } }: Turn): number => (unlock.toNs - lock.fromNs) / NS_PER_MS;

function partsOf(requests: Requests, startAtNs: number, move: Move): Omit<Neighboured, 'turns'> {
  const part = (fromNs: number, toNs: number) => servedIn(requests, fromNs - startAtNs, toNs - startAtNs);
  const phases = PHASES.map((phase) => [phase, part(move[CALL[phase]].fromNs, move[CALL[phase]].toNs)]);
  return {
    // The last one may still be served when the lock comes.
    alone: part(startAtNs, move.lock.fromNs - PERIOD_NS),
    meanwhile: part(move.lock.fromNs, move.unlock.toNs),
    phases: Object.fromEntries(phases) as Record<Phase, Served>,
  };
}

interface Window {
  startAtNs: number;
  ms: number;
  rounds: number;
}

const serve = (tenant: WorkerTenant, { startAtNs, ms, rounds }: Window): Promise<Requests> =>
  askSession(tenant, {
    name: 'requests',
    request: {
      ...VICTIM,
      rounds,
      startAtNs: tenant.worker.theirsNs(startAtNs),
      windowNs: ms * NS_PER_MS,
      graceNs: GRACE_MS * NS_PER_MS,
    },
    deadlineMs: ms + 2 * GRACE_MS,
  });
