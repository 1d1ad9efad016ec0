/** Attacks on the memory of a running tenant, from a process that does not survive the last attack. */
import { randomBytes } from 'node:crypto';
import type { AttackAnswer, AttackRequest, Bait } from '../../../native/addon-types.js';
import { askSession } from '../../../workers/session-task.js';
import type { WorkerTenant } from '../../../workers/worker-tenant.js';
import { rowState } from '../../core/row-state.js';
import { outcomeOf, type SurfaceRow } from './surfaces.js';
import type { Tag } from './tag.js';

const DEADLINE_MS = 30_000;
const IPC = 'IPC handle';

export const layBait = (victim: WorkerTenant, { tag }: Tag): Promise<Bait> =>
  askSession(victim, { name: 'layBait', request: { tag }, deadlineMs: DEADLINE_MS });

/** A forged handle: the real one with its last used bytes changed. */
function forged(handle: string): string {
  const used = handle.replace(/(?:00)+$/, '').length;
  const last = Math.max(16, used) - 16;
  return handle.slice(0, last) + randomBytes(8).toString('hex') + handle.slice(last + 16);
}

function judged(surface: string, transition: string, control: SurfaceRow['control'], answer: AttackAnswer): SurfaceRow {
  const said = answer.code === 0 ? {} : { reason: `refused: ${answer.name} (${answer.code})` };
  return { surface, transition, control, outcome: outcomeOf(answer), bytes: answer.taggedBytes, ...said };
}

const without = (surface: string, transition: string, reason: string): SurfaceRow => ({
  surface,
  transition,
  reason,
  control: 'passed',
  outcome: 'unsupported',
  bytes: null,
});

/** The rows of an attack, or those of its reason if the driver lacks a function that it needs. */
async function unlessMissing(
  rows: (reason: string) => SurfaceRow[],
  attack: () => Promise<SurfaceRow[]>,
): Promise<SurfaceRow[]> {
  try {
    return await attack();
  } catch (error) {
    const state = rowState(error);
    if (state !== null && 'unsupported' in state) return rows(state.unsupported);
    throw error;
  }
}

export class Attacker {
  readonly #tenant: WorkerTenant;
  readonly #victim: WorkerTenant;
  readonly #bait: Bait;
  readonly #mark: string;

  constructor(tenant: WorkerTenant, victim: WorkerTenant, bait: Bait, { mark }: Tag) {
    this.#tenant = tenant;
    this.#victim = victim;
    this.#bait = bait;
    this.#mark = mark;
  }

  /** The last one crashes the process. */
  async all(): Promise<SurfaceRow[]> {
    return [...(await this.#handles()), ...(await this.#descriptor()), await this.#address()];
  }

  #ask(attack: AttackRequest['attack'], target: string): Promise<AttackAnswer> {
    const request = { attack, target, mark: this.#mark, bytes: this.#bait.bytes };
    return askSession(this.#tenant, { name: 'attackMemory', request, deadlineMs: DEADLINE_MS });
  }

  /** Memory that is shared on purpose must be found; otherwise finding nothing proves nothing. */
  async #handles(): Promise<SurfaceRow[]> {
    const { ipcHandle, staleHandle, noIpc, bytes } = this.#bait;
    const rows = (reason: string) => ['forged', 'stale'].map((transition) => without(IPC, transition, reason));
    if (ipcHandle === null || staleHandle === null) return rows(noIpc ?? 'there are no handles');
    return unlessMissing(rows, async () => {
      const given = await this.#ask('ipcHandle', ipcHandle);
      if (given.code !== 0) return rows(`a handle that was given is refused: ${given.name} (${given.code})`);
      const control = given.taggedBytes === bytes ? 'passed' : 'failed';
      return [
        judged(IPC, 'forged', control, await this.#ask('ipcHandle', forged(ipcHandle))),
        judged(IPC, 'stale', control, await this.#ask('ipcHandle', staleHandle)),
      ];
    });
  }

  async #descriptor(): Promise<SurfaceRow[]> {
    const { descriptor, noDescriptor } = this.#bait;
    const surface = 'shareable handle';
    const rows = (reason: string) => [without(surface, 'not given', reason)];
    if (descriptor < 0) return rows(noDescriptor ?? 'there is none');
    return unlessMissing(rows, async () => {
      const answer = await this.#ask('descriptor', `${this.#victim.worker.pid}:${descriptor}`);
      return [judged(surface, 'not given', this.#control, answer)];
    });
  }

  async #address(): Promise<SurfaceRow> {
    return judged('address of another process', 'load', this.#control, await this.#ask('address', this.#bait.address));
  }

  /** The victim's own scans of its blocks. */
  get #control(): SurfaceRow['control'] {
    return this.#bait.taggedBytes === this.#bait.bytes ? 'passed' : 'failed';
  }
}
