/**
 * Tenants that take turns on one card: the one whose slice is over is locked and checkpointed, and only when NVML lists it
 * no longer, the next one is restored and unlocked. A tree of processes that starts is held until its turn, and processes
 * that have no state on the card are only stopped. All are stopped until their tenant has the card again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../errors/message-of.js';
import type { CheckpointAnswer, CheckpointCall } from '../native/addon-types.js';
import { stays } from './stays.js';

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
  look: () => Promise<CardLook | null>;
  /** Stops a process, or lets it go on. */
  stop: (pid: number, isStopped: boolean) => void;
}

/** A process or a program with all that it started: it leaves the card as a whole. */
export interface Tree {
  readonly tenant: string;
  /** Its processes now, as new ones are found. One that cannot use the card, such as a keeper, need not be among them. */
  processes: () => readonly number[];
  /** Starts it, in its first turn. Absent: it was started, and is stopped until then. */
  begin?: () => void;
  /**
   * Tells the guardian, before processes of it are restored. False: it is being ended. Rejects if the guardian does not
   * know it.
   */
  noteRestore: (pids: readonly number[]) => Promise<boolean>;
  /** Ends it after a failure of the rotation. */
  end: () => void;
}

/** One change of the tenant on the card. Times in ms, sums over the processes of a tenant. */
export interface Switch {
  /** The tenant that is let on. */
  tenant: string;
  /** When the first lock, and when the first unlock was called, of CLOCK_MONOTONIC in ns. */
  lockNs: number;
  unlockNs: number;
  lockMs: number;
  checkpointMs: number;
  restoreMs: number;
  unlockMs: number;
  /** From the first lock to the last unlock, with everything between. */
  wholeMs: number;
}

type Times = Omit<Switch, 'tenant' | 'lockNs' | 'wholeMs'>;

export interface RotationReport {
  switches: readonly Switch[];
  /** Most memory in use on the card in any look; null: NVML did not report it. */
  mostUsedBytes: number | null;
  /** Why tenants did not take turns; null: they did. */
  failure: string | null;
}

interface Member {
  tree: Tree;
  /** held: not begun, or stopped without state on the card. away: at least one process is checkpointed. */
  place: 'held' | 'on' | 'away';
  hasBegun: boolean;
  /** Processes that are stopped: all, while it is not on the card. */
  stopped: Set<number>;
  /** Processes that are checkpointed, also those that had no context at that moment. */
  away: Set<number>;
  /** What they had on the card. */
  bytes: number;
}

/** Left free by a restore, because one into a full card is refused for ever (cuda-checkpoint issue 44). */
const MARGIN_BYTES = 64 * 2 ** 20;
/** How long NVML may list a process that is checkpointed. */
const LISTED_MS = 2_000;
const BETWEEN_MS = 20;
/** How long a tenant may refuse its lock while it has state on the card, as during a long kernel. */
const LOCK_MS = 120_000;

const nowNs = (): number => Number(process.hrtime.bigint());

export class Rotation {
  readonly #means: RotationMeans;
  readonly #sliceMs: number;
  readonly #members = new Map<Tree, Member>();
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

  /** Takes in what has just been started, or is to be begun. After a failure nobody has a turn, so it is ended. */
  enter(tree: Tree): void {
    if (this.#failure !== null) return tree.end();
    const stopped = new Set(tree.processes());
    const hasBegun = tree.begin === undefined;
    this.#members.set(tree, { tree, place: 'held', hasBegun, stopped, away: new Set(), bytes: 0 });
    for (const pid of stopped) this.#means.stop(pid, true);
    void this.#turn();
    this.#awaken();
  }

  /** Ends a tree by `how`, while nobody is switched. `isOn`: its processes may run on the card. */
  leave(tree: Tree, how: (isOn: boolean) => Promise<void>): Promise<void> {
    return this.#exclusive(async () => {
      await how(this.#members.get(tree)?.place === 'on');
      this.left(tree);
    });
  }

  /** Notes that all its processes have ended. */
  left(tree: Tree): void {
    this.#members.delete(tree);
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

  /** The tenant that is let on next: the card's own, where a tree of it waits, or the next one; null: none waits. */
  #next(): string | null {
    if (this.#of(this.#holder).some(({ place }) => place === 'held')) return this.#holder;
    const tenants = [...new Set([...this.#members.keys()].map(({ tenant }) => tenant))].sort();
    const others = tenants.filter((tenant) => tenant !== this.#holder);
    return others.find((tenant) => tenant > (this.#holder ?? '')) ?? others[0] ?? null;
  }

  #of(tenant: string | null): Member[] {
    return [...this.#members.values()].filter(({ tree }) => tree.tenant === tenant);
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
    const [began, lockNs] = [performance.now(), nowNs()];
    const times: Times = { unlockNs: 0, lockMs: 0, checkpointMs: 0, restoreMs: 0, unlockMs: 0 };
    const moves = this.#of(this.#holder).some(({ place }) => place === 'on') && next !== this.#holder;
    if (next !== this.#holder) await this.#off(this.#of(this.#holder), times);
    this.#holder = next;
    await this.#on(this.#of(next), times);
    this.#sliceEnds = performance.now() + this.#sliceMs;
    if (moves) this.#switches.push({ tenant: next, lockNs, ...times, wholeMs: performance.now() - began });
    // Again: one that was just being stopped may have started another.
    for (const member of this.#members.values()) if (member.place !== 'on') this.#freeze(member);
    await this.#look();
  }

  /** All are locked before any is checkpointed: one may wait for another. */
  async #off(members: readonly Member[], times: Times): Promise<void> {
    const locked = new Map<number, Member>();
    const on = members.filter(({ place }) => place === 'on');
    // Each time anew: a process may start another before it is locked or stopped.
    const newOne = () =>
      newIn(
        on.filter(({ tree }) => this.#members.has(tree)),
        locked,
      );
    for (let found = newOne(); found; found = newOne()) {
      const { member, pid } = found;
      const took = await this.#locked(member, pid);
      if (took === null) continue;
      times.lockMs += took;
      locked.set(pid, member);
    }
    const look = await this.#look();
    const listed = new Map((look?.processes ?? []).map(({ pid, usedBytes }) => [pid, usedBytes]));
    for (const member of on) [member.place, member.bytes] = ['held', 0];
    for (const [pid, member] of locked) {
      times.checkpointMs += await this.#called('checkpoint', member, pid);
      member.place = 'away';
      member.away.add(pid);
      if (listed.has(pid)) member.bytes += listed.get(pid) ?? look?.usedBytes ?? 0;
    }
    await this.#untilGone(locked);
    for (const member of on) this.#freeze(member);
  }

  /** Stops what is not stopped yet: a process that is checkpointed could start another, which would come to the card. */
  #freeze({ tree, stopped }: Member): void {
    for (const pid of tree.processes()) {
      if (stopped.has(pid)) continue;
      this.#means.stop(pid, true);
      stopped.add(pid);
    }
  }

  async #untilGone(checkpointed: ReadonlyMap<number, Member>): Promise<void> {
    for (let waited = 0; ; waited += BETWEEN_MS, await sleep(BETWEEN_MS)) {
      const look = await this.#look();
      const kept = look?.processes?.find(({ pid }) => checkpointed.has(pid));
      if (!kept) return;
      if (waited >= LISTED_MS)
        throw new Error(
          `process ${kept.pid} is checkpointed, but NVML still lists it: its memory has not left the card`,
        );
    }
  }

  /** Time of the lock in ms; null: it has nothing on the card, and is stopped, or it has ended. */
  async #locked(member: Member, pid: number): Promise<number | null> {
    for (const until = performance.now() + LOCK_MS; ; await sleep(BETWEEN_MS)) {
      const { code, name, tookNs } = await this.#means.call('lock', pid);
      if (code === 0) return tookNs / 1e6;
      if (!this.#has(member, pid)) return null;
      this.#means.stop(pid, true);
      const look = await this.#look();
      if (!look?.processes?.some((process) => process.pid === pid)) {
        member.stopped.add(pid);
        return null;
      }
      this.#means.stop(pid, false);
      if (performance.now() > until) throw new Error(`the lock of process ${pid} returned ${name} (${code})`);
    }
  }

  /** All are restored before any is unlocked. */
  async #on(members: readonly Member[], times: Times): Promise<void> {
    for (const member of members) for (const pid of member.away) if (!this.#has(member, pid)) member.away.delete(pid);
    await this.#mustFit(members);
    for (const { tree, away } of members)
      if (away.size > 0 && !(await tree.noteRestore([...away]))) this.#members.delete(tree);
    const here = members.filter(({ tree }) => this.#members.has(tree));
    for (const { stopped } of here) {
      for (const pid of stopped) this.#means.stop(pid, false);
      stopped.clear();
    }
    const away = here.flatMap((member) => [...member.away].map((pid) => ({ member, pid })));
    for (const { member, pid } of away) times.restoreMs += await this.#called('restore', member, pid);
    times.unlockNs = nowNs();
    for (const { member, pid } of away) times.unlockMs += await this.#called('unlock', member, pid);
    for (const member of here) {
      member.away.clear();
      if (!member.hasBegun) member.tree.begin?.();
      [member.place, member.hasBegun] = ['on', true];
    }
  }

  async #mustFit(members: readonly Member[]): Promise<void> {
    const away = members.flatMap((member) => [...member.away]);
    const bytes = members.reduce((sum, member) => sum + (member.away.size > 0 ? member.bytes : 0), 0);
    if (away.length === 0) return;
    const free = (await this.#look())?.freeBytes ?? null;
    if (free === null || free < bytes + MARGIN_BYTES)
      throw new Error(
        `process ${away.join(' and ')} is not restored: it had ${bytes} bytes on the card, of which ${free ?? 'an unknown part'} is free`,
      );
  }

  async #called(call: CheckpointCall, member: Member, pid: number): Promise<number> {
    const { code, name, tookNs } = await this.#means.call(call, pid);
    if (code !== 0 && (await stays(() => this.#has(member, pid))))
      throw new Error(`the ${call} of process ${pid} returned ${name} (${code})`);
    return tookNs / 1e6;
  }

  /** Whether it is still there, and not ended meanwhile. */
  #has({ tree }: Member, pid: number): boolean {
    return this.#members.has(tree) && tree.processes().includes(pid);
  }

  /** Reads the card, and fails where another tenant than that whose turn it is has something on it. */
  async #look(): Promise<CardLook | null> {
    const look = await this.#means.look();
    if (look?.usedBytes != null) this.#mostUsedBytes = Math.max(this.#mostUsedBytes ?? 0, look.usedBytes);
    const listed = new Set((look?.processes ?? []).map(({ pid }) => pid));
    const own = [...this.#members.keys()].flatMap(({ tenant, processes }) =>
      processes().flatMap((pid) => (listed.has(pid) ? [{ pid, tenant }] : [])),
    );
    const tenants = new Set(own.map(({ tenant }) => tenant));
    if (tenants.size > 1) throw new Error(`NVML lists processes of ${tenants.size} tenants at the same time`);
    const other = own.find(({ tenant }) => tenant !== this.#holder);
    if (other) throw new Error(`process ${other.pid} is on the card, and it is not the turn of its tenant`);
    return look;
  }

  #fail(why: string): void {
    this.#failure ??= why;
    for (const { tree, place } of this.#members.values()) if (place !== 'on') tree.end();
  }
}

/** A process that is neither locked nor stopped; undefined: there is none. */
function newIn(members: readonly Member[], locked: ReadonlyMap<number, Member>) {
  for (const member of members)
    for (const pid of member.tree.processes()) if (!locked.has(pid) && !member.stopped.has(pid)) return { member, pid };
  return undefined;
}
