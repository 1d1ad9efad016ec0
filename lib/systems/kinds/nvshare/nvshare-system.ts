/**
 * nvshare: a preloaded library that makes every allocation managed memory, and a scheduler that gives its clients turns.
 * Facts: src/hook.c, client.c and scheduler.c of grgalex/nvshare 1a8f211, built and run on the simulated GPU.
 */
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inWords } from '../../../config/size.js';
import { UsageError } from '../../../errors/usage-error.js';
import type { Description } from '../../../workers/description.js';
import { inPath } from '../../input/in-path.js';
import { type Prepared, Profile, type ProfileOptions } from '../../profile.js';
import * as proofs from '../../proof/attestation.js';
import { exportedSymbols } from '../../proof/elf.js';
import { sha256 } from '../../proof/file-hash.js';
import { driverCode, ownLibcuda } from '../../proof/hidden-interception.js';
import { judge } from '../../proof/judgement.js';
import type { Finding } from '../../proof/proof-finding.js';
import {
  type Attestation,
  type Canary,
  type Capabilities,
  type Evidence,
  NO_LIMITS,
  type Probe,
  type RunState,
} from '../../system.js';
import { NO_LIBRARY } from '../hami-core/hami-core-system.js';
import { NvshareScheduler } from './nvshare-scheduler.js';

const SCHEDULER = 'nvshare-scheduler';
/** The default directory is compiled into the library and the scheduler. */
export const SOCKET = '/var/run/nvshare/scheduler.sock';
const START_MS = 30_000;
/** What it hides from every process for contexts (MEMINFO_RESERVE_MIB). */
const HIDDEN_BYTES = 1536 * 2 ** 20;
/** More than is left to the process, however little of the card the driver shows. */
const OVER_BYTES = 2 ** 30;
const hooked = ['cuInit', 'cuMemAlloc', 'cuMemGetInfo', 'cuLaunchKernel'];

export interface NvshareOptions extends Omit<ProfileOptions, 'layerFolders'> {
  /** Checked and absolute; null if none was named. */
  library: string | null;
  /** Why the named library is missing. */
  missing?: string;
  /** The program of the scheduler; undefined: the one in PATH. */
  scheduler: string | undefined;
  socket: string;
  turns: boolean;
  quantumSeconds: number;
  oversubscribe: boolean;
}

export class NvshareSystem extends Profile {
  readonly kind = 'nvshare';
  override readonly unavailable: string | null;
  override readonly limitsCoexist = true;
  readonly turnMs?: number;
  readonly capabilities: Capabilities = { ...NO_LIMITS, needsRoot: true };
  readonly #options: NvshareOptions;
  readonly #library: string;
  readonly #program: string | null;
  #sha256: string | null = null;
  #scheduler: NvshareScheduler | null = null;
  /** A folder with the name under which the library opens the driver, where it would find none. */
  #links: string | null = null;

  constructor(options: NvshareOptions) {
    super({ ...options, ...(options.library !== null && { layerFolders: [dirname(options.library)] }) });
    this.#options = options;
    this.#library = options.library ?? '';
    this.#program = options.scheduler ?? inPath(SCHEDULER, options.caller.PATH ?? '');
    this.unavailable =
      options.library === null
        ? (options.missing ?? NO_LIBRARY)
        : this.#program === null
          ? `${SCHEDULER} is not in PATH: name it with scheduler=FILE`
          : null;
    if (options.turns) this.turnMs = 1_000 * options.quantumSeconds;
  }

  override get settings(): Record<string, string> {
    const { turns, quantumSeconds } = this.#options;
    return { ...super.settings, 'nvshare.turns': turns ? `${quantumSeconds} s` : 'off' };
  }

  /** Managed memory beyond the card would be granted, and paid for by everybody on it. */
  override canaries(): Canary[] {
    const bytes = this.prepared.run.gpu.memoryBytes - OVER_BYTES;
    return this.#options.oversubscribe || bytes <= 0 ? [] : [{ bytes, expected: 'refused' }];
  }

  async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = this.look(evidence);
    const { gpu } = this.prepared.run;
    const layer = await proofs.layerInfo(description, this.#library);
    const device = proofs.measuredDevice(description, gpu);
    return judge(description, look, layer, [
      proofs.libraryIdentity(layer, this.#library, this.#sha256),
      await ownExports(this.#library),
      proofs.functionOwners(description, hooked, ['runtime', 'dlsym'], this.#library),
      driverCode(description, this.#library),
      ownLibcuda(description),
      proofs.deviceSeen(device, gpu),
      proofs.noMpsClient(device),
      hiddenMemory(look.probe),
      ...(this.#scheduler ? [await this.#scheduler.proof()] : []),
      ...proofs.allocationCanary(look.probe, this.canaries()),
    ]);
  }

  protected override checkRun(run: RunState): void {
    super.checkRun(run);
    if (run.gpu.index !== 0)
      throw new UsageError(
        `Expected ${this.name} to measure GPU 0, the only one that nvshare knows, but received GPU ${run.gpu.index}: use --device 0.`,
      );
  }

  protected override async begin({ directory, run }: Prepared): Promise<void> {
    this.#sha256 = await sha256(this.#library);
    await this.#linkDriver(directory, run);
    const { caller, socket, turns, quantumSeconds } = this.#options;
    this.#scheduler = await NvshareScheduler.start({
      name: this.name,
      program: this.#program as string,
      socket,
      turns: { isOn: turns, quantumSeconds },
      path: caller.PATH ?? '',
      directory,
      startTimeoutMs: run.timeoutMs ?? START_MS,
      signal: run.signal,
    });
  }

  protected override async end(): Promise<string[]> {
    const scheduler = this.#scheduler;
    this.#scheduler = null;
    return scheduler ? scheduler.end() : [];
  }

  protected variables(): Record<string, string> {
    const folders = [this.#links, this.inherited().LD_LIBRARY_PATH].filter(Boolean);
    return {
      LD_PRELOAD: this.#library,
      ...(this.#links !== null && { LD_LIBRARY_PATH: folders.join(':') }),
      ...(this.#options.oversubscribe && { NVSHARE_ENABLE_SINGLE_OVERSUB: '1' }),
    };
  }

  /** It opens libcuda.so, which a driver installs beside libcuda.so.1, and the simulated one does not. */
  async #linkDriver(directory: string, { target }: RunState): Promise<void> {
    if (target.simulatedDriver === null) return;
    this.#links = join(directory, 'driver');
    await mkdir(this.#links, { mode: 0o700 });
    await symlink(join(target.simulatedDriver, 'libcuda.so.1'), join(this.#links, 'libcuda.so'));
  }
}

async function ownExports(library: string): Promise<Finding> {
  const found = [...((await exportedSymbols(library)) ?? [])].find((name) => name.startsWith('nvshare_'));
  return {
    proof: 'a name of nvshare is exported',
    passed: found !== undefined,
    detail: found ?? `${library} exports no name that begins with nvshare_`,
    advice: proofs.advice.wrongLibrary,
  };
}

/** It shows the whole card but a fixed part as free, whatever is in use. */
function hiddenMemory(probe: Probe | null): Finding {
  const proof = 'free memory as nvshare shows it';
  const { visibleFreeBytes: free = null, visibleTotalBytes: total = null } = probe ?? {};
  if (free === null || total === null) return { proof, passed: null, detail: 'the worker was not queried' };
  return {
    proof,
    passed: free === total - HIDDEN_BYTES,
    detail: `the worker sees ${inWords(free)} of ${inWords(total)}, ${inWords(HIDDEN_BYTES)} are hidden from it under nvshare`,
    advice: proofs.advice.wrongLibrary,
  };
}
