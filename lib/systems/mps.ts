/**
 * NVIDIA MPS: a private control daemon in the run's own directory, one server on the measured GPU, and clients that
 * find it by CUDA_MPS_PIPE_DIRECTORY. It lives while a tenant does and no longer: its server holds a context, which would
 * warm the driver for the other systems (cuInit of a plain process took 8 ms in place of 97 on an H200). A client that does not reach its daemon runs without MPS and says nothing: being
 * a client is what is proven. Source: the MPS documentation.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../package-root.js';
import { BoundedLog } from '../workers/lines.js';
import type { Description } from '../workers/description.js';
import {
  allocationCanary,
  bareDriver,
  deviceSeen,
  type Finding,
  measuredDevice,
  mpsClient,
  type SeenDevice,
} from './attestation.js';
import { runCommand } from './command.js';
import { inPath } from './in-path.js';
import { judge } from './judgement.js';
import { type Prepared, Profile, type ProfileOptions, type WantedLimits } from './profile.js';
import { exists } from './state-files.js';
import type { Attestation, Canary, Capabilities, Evidence, Tenant } from './system.js';
import { SOLE_TENANT } from './system.js';

const CONTROL = 'nvidia-cuda-mps-control';
const MIB = 2 ** 20;
const START_MS = 30_000;
const QUIT_MS = 30_000;
const POLL_MS = 50;
/** A socket's path has 108 bytes, and the daemon adds names of its own. */
const LONGEST_DIRECTORY = 80;

const guardian = join(packageRoot, 'dist/systems/mps-guardian.js');

export interface MpsOptions extends Omit<ProfileOptions, 'layerFolders'>, WantedLimits {
  /** Most time for each step of the daemon's start. Default 30 s. */
  startTimeoutMs?: number;
}

interface Daemon {
  process: ChildProcess;
  log: BoundedLog;
  control: string;
  environment: Record<string, string>;
}

export class MpsSystem extends Profile {
  readonly kind = 'mps';
  override readonly unavailable: string | null;
  override readonly limitsCoexist = true;
  readonly capabilities: Capabilities = {
    memLimit: 'perProcess',
    computeLimit: 'smCap',
    needsRoot: false,
    needsIdleGpu: false,
    changesGlobalGpuState: false,
    limitGranularity: { memoryBytes: MIB, smPercent: null },
  };
  readonly #options: MpsOptions;
  readonly #control: string | null;
  #daemon: Daemon | null = null;
  #starting: Promise<void> | null = null;
  readonly #living = new Set<number>();

  constructor(options: MpsOptions) {
    super(options);
    this.#options = options;
    this.#control = inPath(CONTROL, options.caller.PATH ?? '');
    this.unavailable = this.#control === null ? `${CONTROL} is not in PATH` : null;
  }

  /** What counts is free memory: the total stays the card's (systems reference 4.3). */
  override canaries(tenant: Tenant = SOLE_TENANT): Canary[] {
    const { memoryBytes } = this.limits(tenant);
    if (memoryBytes === null) return [];
    const over = memoryBytes + 256 * MIB;
    return over <= this.prepared.run.gpu.memoryBytes ? [{ bytes: over, expected: 'refused' }] : [];
  }

  async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = this.look(evidence);
    const { gpu } = this.prepared.run;
    const device = measuredDevice(description, gpu);
    const { smPercent } = this.limits(look.tenant);
    return judge(description, look, null, [
      mpsClient(device),
      ...bareDriver(description),
      deviceSeen(device, gpu),
      ...(smPercent === null || smPercent === 100
        ? []
        : [fewerMultiprocessors(device, gpu.multiprocessors, smPercent)]),
      ...allocationCanary(look.probe, this.canaries(look.tenant)),
    ]);
  }

  protected override wantedLimits(): WantedLimits {
    return this.#options;
  }

  override async prepareTenant({ id }: Tenant): Promise<void> {
    if (this.#control !== null) await this.#startOnce(this.#control);
    this.#living.add(id);
  }

  override async reap({ id }: Tenant): Promise<void> {
    this.#living.delete(id);
    if (this.#living.size > 0) return;
    const [left] = await this.#quit();
    if (left !== undefined) throw new Error(`${this.name}: ${left}.`);
  }

  protected override begin({ directory }: Prepared): Promise<void> {
    if (directory.length > LONGEST_DIRECTORY)
      throw new Error(
        `Expected a directory of at most ${LONGEST_DIRECTORY} characters for the MPS daemon but received ${directory}: set TMPDIR to a shorter one.`,
      );
    return Promise.resolve();
  }

  protected override end(): Promise<string[]> {
    return this.#quit();
  }

  /** A daemon that does not come up is ended again: left running, it would warm the driver for the other systems. */
  async #startOnce(control: string): Promise<void> {
    this.#starting ??= this.#start(control, this.prepared);
    try {
      await this.#starting;
    } catch (error) {
      const left = await this.#quit();
      if (left.length > 0 && error instanceof Error) error.message += ` ${left.join('; ')}.`;
      throw error;
    }
  }

  /** In new folders: what an earlier daemon left in them would mislead this one. */
  async #start(control: string, { directory, run }: Prepared): Promise<void> {
    const environment = { ...this.#places(directory), CUDA_VISIBLE_DEVICES: run.gpu.uuid };
    for (const place of Object.values(this.#places(directory))) {
      await rm(place, { recursive: true, force: true });
      await mkdir(place, { mode: 0o700 });
    }
    this.#daemon = startDaemon(control, { PATH: this.#options.caller.PATH ?? '', ...environment });
    await this.#waitFor('no control pipe', () => exists(join(directory, 'p', 'control')), run.signal);
    await this.#ask(`start_server -uid ${process.getuid?.()}`);
    await this.#waitFor('no active server', () => this.#serverIsActive(), run.signal);
  }

  /** Closing its guardian's stdin makes the daemon quit. */
  async #quit(): Promise<string[]> {
    const daemon = this.#daemon;
    this.#daemon = null;
    this.#starting = null;
    if (
      !daemon ||
      daemon.process.pid === undefined ||
      daemon.process.exitCode !== null ||
      daemon.process.signalCode !== null
    )
      return [];
    const ended = once(daemon.process, 'exit').then(() => true);
    daemon.process.stdin?.end();
    if (await Promise.race([ended, sleep(QUIT_MS, false, { ref: false })])) return [];
    return [`the MPS daemon's guardian (PID ${daemon.process.pid}) still runs after ${QUIT_MS / 1_000} s`];
  }

  protected variables(tenant: Tenant): Record<string, string> {
    const { memoryBytes, smPercent } = this.limits(tenant);
    return {
      ...this.#places(this.prepared.directory),
      ...(smPercent !== null && { CUDA_MPS_ACTIVE_THREAD_PERCENTAGE: `${smPercent}` }),
      // The daemon shows its clients the measured GPU alone, as device 0.
      ...(memoryBytes !== null && { CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: `0=${Math.floor(memoryBytes / MIB)}M` }),
    };
  }

  #places(directory: string): Record<string, string> {
    return { CUDA_MPS_PIPE_DIRECTORY: join(directory, 'p'), CUDA_MPS_LOG_DIRECTORY: join(directory, 'l') };
  }

  async #serverIsActive(): Promise<boolean> {
    const [server] = /^\d+$/m.exec(await this.#ask('get_server_list')) ?? [];
    return server !== undefined && /ACTIVE/.test(await this.#ask(`get_server_status ${server}`));
  }

  async #ask(command: string): Promise<string> {
    const { control, environment } = this.#daemon as Daemon;
    const { output } = await runCommand([control], { environment, cwd: '/', timeoutMs: 10_000, input: `${command}\n` });
    return output;
  }

  async #waitFor(lacking: string, come: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<void> {
    const { process: child, log } = this.#daemon as Daemon;
    const startTimeoutMs = this.#options.startTimeoutMs ?? this.prepared.run.timeoutMs ?? START_MS;
    for (const until = performance.now() + startTimeoutMs; performance.now() < until; await sleep(POLL_MS)) {
      signal?.throwIfAborted();
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
        throw new Error(`The MPS daemon of ${this.name} ended at once: ${log.text.trim()}`);
      if (await come()) return;
    }
    const reason = lastLine(join(this.prepared.directory, 'l', 'control.log'));
    throw new Error(
      `Timed out after ${startTimeoutMs / 1_000} s: the MPS daemon of ${this.name} has ${lacking}. ${reason}`.trim(),
    );
  }
}

function startDaemon(control: string, environment: Record<string, string>): Daemon {
  // A group of its own: Ctrl-C is the run's to handle, which still has clients.
  const child = spawn(process.execPath, [guardian, control], {
    env: environment,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
  const log = new BoundedLog();
  child.stderr.on('data', (chunk: Buffer) => log.append(chunk.toString()));
  child.stdin.on('error', () => {});
  child.on('error', (error) => log.append(error.message));
  return { process: child, log, control, environment };
}

function fewerMultiprocessors(device: SeenDevice, whole: number, percent: number): Finding {
  const seen = device?.multiprocessors;
  return {
    proof: 'multiprocessors in the tenant against the card',
    passed: seen === undefined ? null : seen < whole,
    detail: `the tenant has ${seen ?? 'an unknown number'} of ${whole}, ${percent} % was set`,
    advice: 'Look into the server log of the daemon: it may have refused CUDA_MPS_ACTIVE_THREAD_PERCENTAGE.',
  };
}

function lastLine(file: string): string {
  try {
    return `Its log ends: ${readFileSync(file, 'utf8').trim().split('\n').at(-1)}`;
  } catch {
    return 'It has written no log.';
  }
}
