/**
 * Tenants that take turns on one card: the one whose slice is over is locked and checkpointed, and only when NVML lists it
 * no longer, the next one is restored and unlocked. A process that starts is held until its turn, and one that has no
 * state on the card yet is stopped instead of checkpointed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors/message-of.js';
import type { CheckpointAnswer, CheckpointCall } from '../native/addon-types.js';

/** The card as NVML shows it; null: not reported. */
interface CardLook {
  usedBytes: number | null;
  freeBytes: number | null;
  processes: readonly { pid: number; usedBytes: number | null }[] | null;
}

/** What a rotation needs; a test has its own. */
export interface RotationMeans {
  /** Rejects if the controller did not answer in time. */
  call: (name: CheckpointCall, pid: number) => Promise<CheckpointAnswer>;
  /** Tells the guardian, before a restore. Rejects if it does not know the process. */
  noteRestore: (pid: number) => Promise<void>;
  look: () => Promise<CardLook | null>;
  /** Stops a process, or lets it go on. */
  hold: (pid: number, isHeld: boolean) => void;
  /** Ends a process after a failure of the rotation. */
  end: (pid: number) => void;
  /** The process that leads the session of one that NVML lists. */
  leaderOf: (pid: number) => number | null;
}

/** One change of the tenant on the card. Times in ms, sums over the processes of a tenant. */
interface Switch {
  lockMs: number;
  checkpointMs: number;
  restoreMs: number;
  unlockMs: number;
  /** From the first lock to the last unlock, with everything between. */
  wholeMs: number;
}

export interface RotationReport {
  switches: readonly Switch[];
  /** Most memory in use on the card in any look; null: NVML did not report it. */
  mostUsedBytes: number | null;
  /** Why tenants did not take turns; null: they did. */
  failure: string | null;
}

interface Member {
  pid: number;
  tenant: string;
  /** held: stopped, without state on the card. away: checkpointed. */
  place: 'held' | 'on' | 'away';
  /** What it had on the card when it was checkpointed. */
  bytes: number;
}

/** Left free by a restore, because one into a full card is refused for ever (cuda-checkpoint issue 44). */
const MARGIN_BYTES = 64 * 2 ** 20;
/** How long NVML may list a process that is checkpointed. */
const LISTED_MS = 2_000;
const BETWEEN_MS = 20;
/** How long a tenant may refuse its lock while it has state on the card, as during a long kernel. */
const LOCK_MS = 120_000;

export class Rotation {
  readonly #means: RotationMeans;
  readonly #sliceMs: number;
  readonly #members = new Map<number, Member>();
  readonly #switches: Switch[] = [];
  #mostUsedBytes: number | null = null;
  #failure: string | null = null;
  #holder: string | null = null;
  #sliceEnds = 0;
  #work: Promise<unknown> = Promise.resolve();
  #isTurning = false;
  #wake = new AbortController();

  constructor(sliceMs: number, means: RotationMeans) {
    [this.#sliceMs, this.#means] = [sliceMs, means];
  }

  /** Takes in a process that has just been started. After a failure nobody has a turn, so it is ended. */
  enter(tenant: string, pid: number): void {
    if (this.#failure !== null) {
      this.#means.end(pid);
      return;
    }
    this.#members.set(pid, { pid, tenant, place: 'held', bytes: 0 });
    this.#means.hold(pid, true);
    void this.#turn();
    this.#awaken();
  }

  /** Ends a process by `how`, while nobody is switched. */
  leave(pid: number, how: () => Promise<void>): Promise<void> {
    return this.#exclusive(async () => {
      await how();
      this.left(pid);
    });
  }

  /** Notes that a process has ended. */
  left(pid: number): void {
    this.#members.delete(pid);
    this.#awaken();
  }

  report(): RotationReport {
    return { switches: [...this.#switches], mostUsedBytes: this.#mostUsedBytes, failure: this.#failure };
  }

  async #turn(): Promise<void> {
    if (this.#isTurning) return;
    this.#isTurning = true;
    while (this.#members.size > 0 && this.#failure === null) {
      const next = this.#next();
      const leftMs = this.#of(this.#holder).length === 0 ? 0 : this.#sliceEnds - performance.now();
      if (next === null || (next !== this.#holder && leftMs > 0)) await this.#rest(next === null ? null : leftMs);
      else await this.#exclusive(() => this.#change(next)).catch((error: unknown) => this.#fail(messageOf(error)));
    }
    this.#isTurning = false;
  }

  /** The tenant that is let on next: the card's own, where a process of it waits, or the next one; null: none waits. */
  #next(): string | null {
    if (this.#of(this.#holder).some(({ place }) => place === 'held')) return this.#holder;
    const tenants = [...new Set([...this.#members.values()].map(({ tenant }) => tenant))].sort();
    const others = tenants.filter((tenant) => tenant !== this.#holder);
    return others.find((tenant) => tenant > (this.#holder ?? '')) ?? others[0] ?? null;
  }

  #of(tenant: string | null): Member[] {
    return [...this.#members.values()].filter((member) => member.tenant === tenant);
  }

  async #rest(ms: number | null): Promise<void> {
    this.#wake = new AbortController();
    await sleep(ms ?? 2 ** 30, null, { signal: this.#wake.signal, ref: false }).catch(() => undefined);
  }

  #awaken(): void {
    this.#wake.abort();
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  async #change(next: string): Promise<void> {
    const began = performance.now();
    const times = { lockMs: 0, checkpointMs: 0, restoreMs: 0, unlockMs: 0 };
    const moves = this.#of(this.#holder).some(({ place }) => place === 'on') && next !== this.#holder;
    if (next !== this.#holder) await this.#off(this.#of(this.#holder), times);
    this.#holder = next;
    await this.#on(this.#of(next), times);
    this.#sliceEnds = performance.now() + this.#sliceMs;
    if (moves) this.#switches.push({ ...times, wholeMs: performance.now() - began });
    await this.#look();
  }

  /** All are locked before any is checkpointed: one may wait for another. */
  async #off(members: readonly Member[], times: Omit<Switch, 'wholeMs'>): Promise<void> {
    const before = await this.#look();
    const locked: Member[] = [];
    for (const member of members.filter(({ place }) => place === 'on')) {
      const took = await this.#locked(member);
      if (took === null) continue;
      // Else nothing would show whether its memory leaves the card.
      if (!before?.processes?.some(({ pid }) => pid === member.pid))
        throw new Error(`process ${member.pid} is on the card, but NVML does not list it by this PID`);
      times.lockMs += took;
      locked.push(member);
    }
    for (const member of locked) {
      times.checkpointMs += await this.#called('checkpoint', member);
      member.place = 'away';
      member.bytes = before?.processes?.find(({ pid }) => pid === member.pid)?.usedBytes ?? before?.usedBytes ?? 0;
    }
    for (let waited = 0; ; waited += BETWEEN_MS, await sleep(BETWEEN_MS)) {
      const look = await this.#look();
      const kept = look?.processes?.find(({ pid }) => locked.some((member) => member.pid === pid));
      if (!kept) return;
      if (waited >= LISTED_MS)
        throw new Error(
          `process ${kept.pid} is checkpointed, but NVML still lists it: its memory has not left the card`,
        );
    }
  }

  /** Time of the lock in ms; null: it has nothing on the card, and is stopped, or it has ended. */
  async #locked(member: Member): Promise<number | null> {
    const { pid } = member;
    for (const until = performance.now() + LOCK_MS; ; await sleep(BETWEEN_MS)) {
      const { code, name, tookNs } = await this.#means.call('lock', pid);
      if (code === 0) return tookNs / 1e6;
      if (!this.#members.has(pid)) return null;
      this.#means.hold(pid, true);
      const look = await this.#look();
      if (!look?.processes?.some((process) => process.pid === pid)) {
        member.place = 'held';
        return null;
      }
      this.#means.hold(pid, false);
      if (performance.now() > until) throw new Error(`the lock of process ${pid} returned ${name} (${code})`);
    }
  }

  /** All are restored before any is unlocked. */
  async #on(members: readonly Member[], times: Omit<Switch, 'wholeMs'>): Promise<void> {
    const away = members.filter(({ place }) => place === 'away');
    for (const member of away) {
      const free = (await this.#look())?.freeBytes ?? null;
      if (free === null || free < member.bytes + MARGIN_BYTES)
        throw new Error(
          `process ${member.pid} is not restored: it had ${member.bytes} bytes on the card, of which ${free ?? 'an unknown part'} is free`,
        );
      await this.#means.noteRestore(member.pid);
      times.restoreMs += await this.#called('restore', member);
      member.place = 'on';
    }
    for (const member of away) times.unlockMs += await this.#called('unlock', member);
    for (const member of members.filter(({ place }) => place === 'held')) {
      member.place = 'on';
      this.#means.hold(member.pid, false);
    }
  }

  async #called(call: CheckpointCall, { pid }: Member): Promise<number> {
    const { code, name, tookNs } = await this.#means.call(call, pid);
    if (code !== 0 && this.#members.has(pid))
      throw new Error(`the ${call} of process ${pid} returned ${name} (${code})`);
    return tookNs / 1e6;
  }

  /** Reads the card, and fails where it holds more than one tenant. */
  async #look(): Promise<CardLook | null> {
    const look = await this.#means.look();
    if (look?.usedBytes != null) this.#mostUsedBytes = Math.max(this.#mostUsedBytes ?? 0, look.usedBytes);
    const own = (look?.processes ?? []).flatMap(({ pid }) => {
      const leader = this.#members.has(pid) ? pid : this.#means.leaderOf(pid);
      const member = leader === null ? undefined : this.#members.get(leader);
      return member ? [{ pid, member }] : [];
    });
    const child = own.find(({ pid, member }) => pid !== member.pid);
    if (child)
      throw new Error(`process ${child.pid} is on the card, which process ${child.member.pid} of a tenant has started`);
    const tenants = [...new Set(own.map(({ member }) => member.tenant))];
    if (tenants.length > 1) throw new Error(`NVML lists processes of ${tenants.length} tenants at the same time`);
    return look;
  }

  #fail(why: string): void {
    this.#failure ??= why;
    for (const { pid, place } of this.#members.values()) if (place !== 'on') this.#means.end(pid);
  }
}
