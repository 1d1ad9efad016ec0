/** A process in a pod: `kubectl exec` passes its streams on, and ends without ending it. */
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { killedInside } from '../container/container-process.js';
import type { Ending, LaunchedProcess } from '../launcher.js';
import { endsWithin } from '../within.js';

/** Deadlines in milliseconds: after SIGTERM and SIGKILL, which take a call of the API server each. */
const TERM_MS = 3_000;
const KILL_MS = 10_000;
/**
 * How long a kubelet takes to report an end: a crash is the process's own, for which there is mostly no other reason; else the pod
 * may be ending, of which a busy node says nothing for some time. And the time between two looks.
 */
const CRASH_REASON_MS = 5_000;
const REASON_MS = 20_000;
const BETWEEN_MS = 500;

interface Inside {
  /** Sends a signal to the process inside; never rejects. */
  signal: (name: NodeJS.Signals) => Promise<void>;
  /** What the cluster says of a process that did not end well; null where it says nothing. */
  reason: () => Promise<string | null>;
}

export class PodProcess implements LaunchedProcess {
  /** It runs on another machine. */
  readonly pid = null;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly ended: Promise<Ending>;
  readonly #client: LaunchedProcess;
  readonly #inside: Inside;
  #isSignalled = false;

  constructor(client: LaunchedProcess, inside: Inside) {
    [this.#client, this.#inside] = [client, inside];
    [this.stdin, this.stdout, this.stderr] = [client.stdin, client.stdout, client.stderr];
    this.ended = client.ended.then((ending) => this.#explained(ending));
  }

  signal(name: NodeJS.Signals): void {
    void this.#send(name);
  }

  async kill(): Promise<void> {
    await this.#send('SIGTERM');
    if (!(await endsWithin(this.ended, TERM_MS))) await this.#send('SIGKILL');
    // A client whose connection is dead waits for ever.
    if (!(await endsWithin(this.ended, KILL_MS))) await this.#client.kill();
    await this.ended;
  }

  async endWithin(ms: number): Promise<void> {
    if (!(await endsWithin(this.ended, ms))) await this.kill();
  }

  #send(name: NodeJS.Signals): Promise<void> {
    this.#isSignalled = true;
    return this.#inside.signal(name);
  }

  /** The cluster may say a little later why something ended the process. */
  async #explained(ending: Ending): Promise<Ending> {
    if (ending.exitCode === 0) return ending;
    const inside = killedInside(ending);
    if (this.#isSignalled) return inside;
    const isCrash = inside.signal !== null && inside.signal !== 'SIGKILL';
    const until = performance.now() + (isCrash ? CRASH_REASON_MS : REASON_MS);
    let reason = await this.#inside.reason();
    while (reason === null && performance.now() < until) {
      await sleep(BETWEEN_MS);
      reason = await this.#inside.reason();
    }
    return reason === null ? inside : { ...inside, how: `${inside.how}: ${reason}` };
  }
}
