/**
 * Containers: the processes of another system, by default of the bare driver, each in a container of its own. What that system
 * proves is proven inside; that the process is in its container is proven from outside.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { BenchError } from '../../../errors/bench-error.js';
import { messageOf } from '../../../errors/message-of.js';
import { UsageError } from '../../../errors/usage-error.js';
import { packageRoot } from '../../../package-root.js';
import type { Ask, Container } from '../../../workers/container/container.js';
import { ContainerLauncher } from '../../../workers/container/container-launcher.js';
import type { ContainerSource, Mount } from '../../../workers/container/container-type.js';
import { CONTAINER_VARIABLE } from '../../../workers/container/container-variable.js';
import { unmountable } from '../../../workers/container/engine-command.js';
import type { LaunchedProcess } from '../../../workers/launcher.js';
import { BoundedLog } from '../../../workers/lines.js';
import type { Description } from '../../../workers/description.js';
import type { Finding } from '../../proof/proof-finding.js';
import { runCommand } from '../../process/command.js';
import { sha256 } from '../../proof/file-hash.js';
import { joined } from '../../proof/joined.js';
import { judge } from '../../proof/judgement.js';
import { parseVariable } from '../../proof/ld-preload.js';
import { checkDriverPath } from '../../process/loader-path.js';
import { isSecret } from '../../input/spec.js';
import type {
  Attestation,
  Canary,
  Capabilities,
  Evidence,
  Limits,
  RunState,
  System,
  Tenant,
  TrueGpu,
} from '../../system.js';
import { FIRST_LOOK, SOLE_TENANT } from '../../system.js';
import { nameOfLabel } from '../../system-name.js';
import { NotActive } from '../../proof/not-active.js';
import { Guardian } from './container-guarding.js';
import { checkpointRefusal, gpuCheckpointRefusal } from './container-checkpoints.js';
import { gpuAccess } from './container-gpu.js';
import { refusalOf } from './container-refusal.js';
import { inContainer, sameFiles, sameGpu } from './container-proofs.js';
import { type ContainerOptions, missingRuntime, runtimeProgram } from './container-options.js';

const TRIAL_MS = 120_000;

/** What a client of a runtime reads of the caller: where its programs, configuration, storage and daemon are. */
const clientVariable =
  /^(PATH|HOME|USER|LANG|LC_[A-Z]+|TMPDIR|XDG_(RUNTIME_DIR|CONFIG_HOME|DATA_HOME)|DBUS_SESSION_BUS_ADDRESS|(DOCKER|CONTAINER|CONTAINERS|CONTAINERD|NERDCTL|PODMAN|BUILDAH)_[A-Z_]+)$/;

/** Variables that describe the caller's machine; the image has its own values. */
const ofHost = ['PATH', 'HOME', 'USER', 'TMPDIR', 'LD_LIBRARY_PATH'];

interface Prepared {
  run: RunState;
  launcher: ContainerLauncher;
  guardian: Guardian | null;
  directory: string;
  record: Record<string, string>;
  /** Why nothing starts in it; null where the trial did. */
  refusal: string | null;
}

export class ContainerSystem implements System {
  readonly kind = 'container';
  readonly startsElsewhere = true;
  readonly name: string;
  readonly unavailable: string | null;
  readonly showsMeasuredFirst: boolean;
  readonly #options: ContainerOptions;
  readonly #layer: System;
  #prepared: Prepared | null = null;

  constructor(options: ContainerOptions) {
    this.#options = options;
    this.#layer = options.layer;
    this.name = options.layer.name;
    this.unavailable = missingRuntime(options.runtime) ?? options.layer.unavailable;
    this.showsMeasuredFirst = options.gpu.by !== 'none';
    // Absent where the layer has none: nothing is known of such a way.
    const { layer } = options;
    if (layer.changeLimit) this.changeLimit = layer.changeLimit.bind(layer);
    if (layer.recover) this.recover = layer.recover.bind(layer);
  }

  changeLimit?: (tenant: Tenant, smPercent: number) => Promise<string | null>;
  recover?: () => Promise<void>;

  get settings(): Record<string, string> {
    return { ...this.#prepared?.record, ...this.#layer.settings };
  }

  get capabilities(): Capabilities {
    return this.#layer.capabilities;
  }

  get limitsCoexist(): boolean {
    return this.#layer.limitsCoexist;
  }

  get staggerStarts(): boolean {
    return this.#layer.staggerStarts;
  }

  get usesMps(): boolean {
    return this.#layer.usesMps === true;
  }

  get picksGpu(): boolean {
    return this.#layer.picksGpu === true;
  }

  get isBare(): boolean {
    return this.#layer.isBare === true;
  }

  get whyNoPrograms(): string | undefined {
    return this.#layer.whyNoPrograms;
  }

  ownGpu(tenant?: Tenant): TrueGpu | undefined {
    return this.#layer.ownGpu?.(tenant);
  }

  get provesByKernels(): boolean | undefined {
    return this.#layer.provesByKernels;
  }

  get wantsProbe(): boolean {
    return this.#layer.wantsProbe;
  }

  get launcher(): ContainerLauncher {
    return this.#ready.launcher;
  }

  environment(tenant: Tenant = SOLE_TENANT): NodeJS.ProcessEnv {
    return withoutHost(this.#layer.environment(tenant));
  }

  argvPrefix(tenant: Tenant = SOLE_TENANT): readonly string[] {
    return this.#layer.argvPrefix(tenant);
  }

  limits(tenant: Tenant = SOLE_TENANT): Limits {
    return this.#layer.limits(tenant);
  }

  canaries(tenant: Tenant = SOLE_TENANT): readonly Canary[] {
    return this.#layer.canaries(tenant);
  }

  async prepare(around: RunState): Promise<void> {
    await this.#layer.prepare(around);
    const run = { ...around, gpu: this.#layer.ownGpu?.() ?? around.gpu };
    const directory = join(run.directory, `${this.name}.containers`);
    await mkdir(directory, { mode: 0o700 });
    const { simulatedDriver } = run.target;
    if (simulatedDriver !== null && (this.#options.pid === 'private' || this.#options.ipc === 'private'))
      throw new UsageError(`Expected pid and ipc of ${this.name} to be host: a simulated card is shared memory.`);
    if (simulatedDriver !== null) checkDriverPath(simulatedDriver);
    const prefix = `gvb-${run.runId}-${process.pid}-${this.name.toLowerCase().replace(/[^a-z0-9]/g, '')}-`;
    const mounts = this.#mounts(run);
    const { access, refused } = await gpuAccess(this.#options, run);
    const source: ContainerSource = { ...this.#options, runtime: runtimeProgram(this.#options.runtime), gpu: access };
    const clientEnvironment = this.#clientEnvironment();
    const ask: Ask = async (argv, secret = {}) =>
      runCommand([source.runtime.program, ...source.runtime.options, ...argv], {
        environment: { ...clientEnvironment, ...secret },
        cwd: '/',
      });
    const checkpoints = { runtime: this.#options.runtime, ask, environment: clientEnvironment };
    const keeper = () => prepared.guardian as Guardian;
    const launcher = new ContainerLauncher({
      source,
      prefix,
      directory,
      clientEnvironment,
      mounts,
      isSecret,
      ask,
      onMountPoints: (paths) => prepared.guardian?.noteMountPoints(paths),
      keeping: {
        checkpoint: (name) => keeper().checkpoint(name),
        restore: (name) => keeper().restore(name),
        remove: (name) => keeper().remove(name),
      },
      refusal: once(() => checkpointRefusal(checkpoints)),
      gpuRefusal: once(() => gpuCheckpointRefusal(checkpoints)),
    });
    const prepared: Prepared = {
      run,
      launcher,
      directory,
      guardian: null,
      record: {},
      refusal: refused,
    };
    this.#prepared = prepared;
    if (refused !== null) return;
    prepared.guardian = new Guardian(source.runtime, prefix, clientEnvironment);
    prepared.record = await this.#record(source, ask);
    prepared.refusal = await this.#trial(launcher, run);
  }

  async prepareTenant(tenant: Tenant): Promise<void> {
    const { refusal } = this.#ready;
    if (refusal !== null) throw new NotActive(refusal);
    await this.#layer.prepareTenant(tenant);
  }

  async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = evidence ?? FIRST_LOOK;
    const { launcher, run } = this.#ready;
    const name = description.environment[CONTAINER_VARIABLE];
    const container: Container | undefined = name === undefined ? undefined : launcher.container(name);
    const findings: Finding[] = [
      ...(await inContainer(description, container, this.#options.runtime.name)),
      ...(await sameFiles(description, this.environment(look.tenant))),
      sameGpu(description, run.gpu),
    ];
    return joined(judge(description, look, null, findings), await this.#layer.attest(description, evidence));
  }

  betweenLimits(): Promise<void> {
    return this.#layer.betweenLimits();
  }

  reap(tenant: Tenant): Promise<void> {
    return this.#layer.reap(tenant);
  }

  async teardown(): Promise<void> {
    const prepared = this.#prepared;
    this.#prepared = null;
    const left = (await prepared?.guardian?.end()) ?? [];
    if (prepared) await rm(prepared.directory, { recursive: true, force: true });
    await this.#layer.teardown();
    if (left.length > 0) throw new BenchError('SYSTEM', `${this.name} could not be cleaned up: ${left.join('; ')}.`);
  }

  get #ready(): Prepared {
    if (!this.#prepared) throw new Error(`${this.name} was not prepared.`);
    return this.#prepared;
  }

  #clientEnvironment(): Record<string, string> {
    const entries = Object.entries(this.#options.caller).filter(([name]) => clientVariable.test(name));
    return Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  }

  /** Everything at the path it has outside, so that what is seen inside means the same file. */
  #mounts({ directory, target: { simulatedDriver } }: RunState): Mount[] {
    const same = (source: string, readOnly: boolean): Mount => ({ source, target: source, readOnly });
    const libraries = parseVariable(this.#layer.environment().LD_PRELOAD ?? '').filter((path) => existsSync(path));
    const files = [process.execPath, ...(simulatedDriver === null ? [] : [simulatedDriver]), ...libraries];
    const outside = files.filter((path) => relative(packageRoot, path).startsWith('..'));
    const mounts = [
      same(packageRoot, true),
      ...[...new Set(outside)].map((path) => same(path, true)),
      same(join(directory, nameOfLabel(this.#options.layer.name)), false),
      ...this.#options.mounts,
    ];
    for (const { source } of mounts) {
      const why = unmountable(source);
      if (why !== null) throw new UsageError(`Expected ${source} to have a path that can be mounted: ${why}.`);
    }
    return mounts.filter(({ source }) => existsSync(source));
  }

  /** Records for the document the properties by which containers with the same settings may differ. */
  async #record({ from, gpu }: ContainerSource, ask: Ask): Promise<Record<string, string>> {
    const version = (await ask(['--version'])).output.trim().split('\n')[0] ?? '';
    const common = { 'container.runtime': version, 'container.gpu': gpu.by === 'cdi' ? `cdi ${gpu.device}` : gpu.by };
    if ('bundle' in from) {
      const config = await sha256(join(from.bundle, 'config.json'));
      return { ...common, 'container.bundle': from.bundle, 'container.config': config ?? 'default' };
    }
    const { exit, output } = await ask(['image', 'inspect', '--format={{.Id}} {{json .RepoDigests}}', from.image]);
    const known = exit === 0 ? { 'container.digest': output.trim() } : {};
    return { ...common, 'container.image': from.image, ...known };
  }

  /** Also unpacks the image and reads it into memory, which the first start would else pay. */
  async #trial(launcher: ContainerLauncher, { signal }: RunState): Promise<string | null> {
    signal?.throwIfAborted();
    const log = new BoundedLog();
    let trial: LaunchedProcess;
    try {
      trial = launcher.start([process.execPath, '--version'], { environment: this.environment() });
    } catch (error) {
      return refusalOf('could not be described to the runtime', [messageOf(error)]);
    }
    trial.stdin.on('error', () => {}).end();
    for (const stream of [trial.stdout, trial.stderr])
      stream.on('data', (chunk: Buffer) => log.append(chunk.toString()));
    const abort = () => void trial.kill();
    signal?.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(abort, TRIAL_MS);
    const { how, exitCode } = await trial.ended;
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    signal?.throwIfAborted();
    return exitCode === 0 ? null : refusalOf(how, log.lastLines(3));
  }
}

/** What was found the first time stays so. */
function once<Found>(find: () => Promise<Found>): () => Promise<Found> {
  let found: Promise<Found> | null = null;
  return () => (found ??= find());
}

const withoutHost = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !ofHost.includes(name)));
