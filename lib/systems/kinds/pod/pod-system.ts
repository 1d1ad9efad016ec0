/**
 * Pods of Kubernetes: a pod for each tenant, made of the user's template, in which processes start by `kubectl exec`. Limits are those
 * that the cluster injected; they are read inside and proven there. A pod cannot choose its card, so every one is looked at.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isInstance } from '../../../results/cards.js';
import { ownIdentity } from '../../../environment/process-identity.js';
import { BenchError } from '../../../errors/bench-error.js';
import { messageOf } from '../../../errors/message-of.js';
import type { Target } from '../../../native/addon-types.js';
import { packageRoot } from '../../../package-root.js';
import { type Description, describe, failureToLook } from '../../../workers/description.js';
import { PodLauncher } from '../../../workers/pod/pod-launcher.js';
import { POD_VARIABLE } from '../../../workers/pod/pod-variables.js';
import { Worker } from '../../../workers/worker.js';
import type { Elsewhere } from '../../elsewhere.js';
import { isSecret } from '../../input/spec.js';
import { CleanUpGuardian } from '../../process/clean-up-guardian.js';
import { deviceSeen, measuredDevice } from '../../proof/attestation.js';
import { judge } from '../../proof/judgement.js';
import { NotActive } from '../../proof/not-active.js';
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
import { FIRST_LOOK, NO_LIMITS, overLimit, SOLE_TENANT } from '../../system.js';
import { type Adopted, adoptedFrom, mayBeSplit, withReadBack } from './adopted-limits.js';
import { clockOffsetOf } from './pod-clock.js';
import { lookAtShare, readBack, unknownCard } from './equal-split.js';
import { Kubectl, MARK } from './kubectl.js';
import { leftPods } from './left-pods.js';
import { LivingPod, PodFailed } from './living-pod.js';
import type { PodOptions } from './pod-options.js';
import * as proofs from './pod-proofs.js';
import { recordOf } from './pod-record.js';
import { podOf, selectRun, type Template } from './pod-template.js';
import { lookAtTruth, NO_TRUTH } from './truth-pod.js';

const guardianProgram = join(packageRoot, 'dist/systems/kinds/pod/pod-guardian.js');
/** How often a pod is made anew that got another card. */
const TRIES = 3;
const NAME_LENGTH = 30;
/** Tells the guardian that nothing is being created any more. */
const OVER = 'over';
/** How long a further tenant's pod may find no room beside the first: a scheduler looks again after some seconds. */
const BESIDE_MS = 15_000;

interface Prepared {
  run: RunState;
  adopted: Adopted;
  record: Record<string, string>;
  warnings: string[];
  /** Why no pod of it can be measured; null where one ran. */
  refusal: string | null;
}

interface Looked {
  pod: LivingPod;
  description: Description;
}

interface OnCard extends Looked {
  /** The measured card. */
  gpu: TrueGpu;
}

export class PodSystem implements System {
  readonly kind = 'pod';
  readonly startsElsewhere = true;
  readonly showsMeasuredFirst = true;
  readonly limitsAreFixed = true;
  readonly limitsCoexist = false;
  readonly staggerStarts = false;
  readonly wantsProbe = true;
  readonly isPlaced = true;
  readonly name: string;
  readonly unavailable: string | null;
  readonly looksElsewhere: boolean;
  readonly launcher: PodLauncher;
  readonly #options: PodOptions;
  readonly #kubectl: Kubectl;
  readonly #id = randomUUID().slice(0, 8);
  readonly #pods = new Map<number, LivingPod>();
  #truthPod: { pod: LivingPod; worker: Worker } | null = null;
  #nodeName: string | null = null;
  #guardian: CleanUpGuardian | null = null;
  #prepared: Prepared | null = null;
  #hasTruth = true;
  /** The card of the first pod of a round, where it is not that of the comparison. */
  #ownGpu: TrueGpu | undefined;
  #count = 0;

  constructor(options: PodOptions) {
    this.#options = options;
    this.name = options.name;
    this.unavailable =
      options.kubectl === null ? 'kubectl is not installed: install it, or give its path with kubectl=' : null;
    this.looksElsewhere = options.truth !== 'here';
    const { context, namespace, caller, template, node } = options;
    const program = options.kubectl ?? 'kubectl';
    this.#kubectl = new Kubectl({ program, context, namespace, caller, mark: this.#id });
    this.launcher = new PodLauncher({
      kubectl: this.#kubectl.argv,
      clientEnvironment: this.#kubectl.environment,
      container: template.container,
      node,
      package: options.package,
      isSecret,
      runInside: async (pod, command) => {
        const { exit, stdout } = await this.#kubectl.inside(pod, template.container, command);
        return exit === 0 ? stdout : null;
      },
      reason: async (name) => (await this.#named(name)?.whyOver()) ?? null,
    });
  }

  get settings(): Record<string, string> {
    return this.#prepared?.record ?? {};
  }

  get capabilities(): Capabilities {
    const { memoryBytes = null, smPercent = null, mechanism = 'whole' } = this.#prepared?.adopted ?? {};
    const isLayer = mechanism === 'layer';
    return {
      ...NO_LIMITS,
      memLimit:
        mechanism === 'mig' ? 'hardware' : memoryBytes === null ? 'none' : isLayer ? 'perTenantPool' : 'perProcess',
      computeLimit:
        mechanism === 'mig' ? 'hardware' : smPercent === null ? 'none' : isLayer ? 'softDutyCycle' : 'smCap',
    };
  }

  ownGpu(): TrueGpu | undefined {
    return this.#ownGpu;
  }

  get isBare(): boolean {
    return ['whole', 'mig'].includes(this.#ready.adopted.mechanism);
  }

  get injected(): Readonly<Record<string, string>> {
    return this.#ready.adopted.injected;
  }

  environment({ id }: Tenant = SOLE_TENANT): NodeJS.ProcessEnv {
    const pod = this.#pods.get(this.#podOf(id));
    return pod ? this.#variables(pod, this.#ready.run.target) : {};
  }

  argvPrefix(): readonly string[] {
    return [];
  }

  /** They are in the pod's environment; no tenant can have others. */
  limits(): Limits {
    const { memoryBytes, smPercent } = this.#ready.adopted;
    return { memoryBytes, smPercent };
  }

  canaries(): readonly Canary[] {
    return overLimit(this.limits().memoryBytes, this.#gpu);
  }

  /** Looks at the card through a pod, and at NVML through the unhooked one where there is a template of it. */
  async lookElsewhere(target: Target, signal: AbortSignal): Promise<Elsewhere> {
    const { pod, description } = await this.#look(this.#options.template, target, signal);
    try {
      this.#nodeName = pod.found.node;
      const [card] = description.inspection.devices;
      const failure = failureToLook(description);
      if (failure || !card)
        throw failure ?? new BenchError('NO_SUCH_DEVICE', `Pod ${pod.name} of ${this.name} sees no GPU.`);
      const { truth } = this.#options;
      if (truth === null || truth === 'here') return { description, uuid: card.uuid, nvml: null };
      return await this.#lookAtTruth(truth, card.uuid, target, signal);
    } finally {
      await this.#removed(pod);
    }
  }

  async prepare(run: RunState): Promise<void> {
    const warnings = await leftPods(this.#kubectl);
    this.#nodeName ??= run.pinned?.node ?? null;
    this.#hasTruth = run.hasTruth ?? true;
    const none = { mechanism: 'whole', library: null, injected: {}, memoryBytes: null, smPercent: null } as const;
    const prepared: Prepared = { run, adopted: none, record: {}, warnings, refusal: null };
    this.#prepared = prepared;
    try {
      const looked = await this.#onCard(run, null);
      const { pod } = looked;
      prepared.adopted = await this.#adopted(looked, run);
      const doubt = prepared.adopted.readBack?.doubt ?? null;
      if (doubt !== null) warnings.push(doubt);
      prepared.record = recordOf(pod, prepared.adopted, { ...this.#options, hasTruth: this.#hasTruth });
      this.#nodeName = pod.found.node;
      if (run.pinned) run.pinned.node ??= pod.found.node;
      await this.#removed(pod);
    } catch (error) {
      run.signal?.throwIfAborted();
      prepared.refusal = [`no pod of ${this.name} could be used: ${messageOf(error)}`, ...warnings.splice(0)].join(
        '; ',
      );
    }
  }

  async prepareTenant({ id }: Tenant): Promise<void> {
    const { run, refusal } = this.#ready;
    if (refusal !== null) throw new NotActive(refusal);
    const own = this.#podOf(id);
    if (this.#pods.has(own)) return;
    const isFirst = own === SOLE_TENANT.id;
    const { pod, gpu } = await this.#onCard(run, isFirst ? null : this.#gpu);
    if (isFirst) this.#ownGpu = gpu.uuid === run.gpu.uuid ? undefined : gpu;
    this.#pods.set(own, pod);
  }

  async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = evidence ?? FIRST_LOOK;
    const { adopted, warnings } = this.#ready;
    const gpu = this.#gpu;
    const now = withReadBack(adoptedFrom(description, gpu), adopted.readBack);
    const pod = this.#named(description.environment[POD_VARIABLE] ?? '');
    const attestation = judge(description, look, proofs.layerInside(description, now.library), [
      proofs.inPod(description, pod),
      deviceSeen(measuredDevice(description, gpu), gpu),
      proofs.underAsked(this.#options.asked, now, description),
      ...(now.mechanism === 'layer' ? proofs.limitsGiven(this.#options.asked, now) : []),
      proofs.sameLimits(adopted, now),
      ...proofs.ofMechanism(description, {
        adopted: now,
        gpu,
        look,
        canaries: this.canaries(),
        hasTruth: this.#hasTruth,
      }),
    ]);
    return {
      ...attestation,
      groundTruth: this.#hasTruth ? 'nvml' : 'none',
      ...(!this.#hasTruth && { noTruth: NO_TRUTH }),
      warnings: [...attestation.warnings, ...(look.phase === 'before' ? warnings.splice(0) : [])],
    };
  }

  betweenLimits(): Promise<void> {
    return Promise.resolve();
  }

  async reap({ id }: Tenant): Promise<void> {
    // What tenants share is the first one's.
    if (this.#podOf(id) !== id) return;
    const pod = this.#pods.get(id);
    if (!pod) return;
    await this.#removed(pod);
    this.#pods.delete(id);
    if (id === SOLE_TENANT.id) this.#ownGpu = undefined;
  }

  async teardown(): Promise<void> {
    const truth = this.#truthPod;
    this.#truthPod = null;
    await truth?.worker.stop();
    const pods = [...this.#pods.values(), ...(truth ? [truth.pod] : [])];
    const left = (await Promise.all(pods.map((pod) => pod.remove()))).filter((each) => each !== null);
    this.#pods.clear();
    this.#guardian?.note(OVER);
    left.push(...((await this.#guardian?.end()) ?? []));
    this.#guardian = null;
    if (left.length > 0) throw new BenchError('SYSTEM', `${this.name} could not be cleaned up: ${left.join('; ')}.`);
  }

  /** The card that is measured now. */
  get #gpu(): TrueGpu {
    return this.#ownGpu ?? this.#ready.run.gpu;
  }

  get #ready(): Prepared {
    if (!this.#prepared) throw new Error(`${this.name} was not prepared.`);
    return this.#prepared;
  }

  /** A pod that has the whole card leaves none to another, so its tenants are processes in it. */
  #podOf(id: number): number {
    return this.#ready.adopted.mechanism === 'whole' ? SOLE_TENANT.id : id;
  }

  #named(name: string): LivingPod | undefined {
    return [...this.#pods.values(), ...this.#looking].find((pod) => pod.name === name);
  }

  /** Pods that are only looked at. */
  readonly #looking = new Set<LivingPod>();

  #variables(pod: LivingPod, { simulatedDriver }: Target): Record<string, string> {
    const { caller } = this.#options;
    const ofSimulation = simulatedDriver === null ? [] : ['GVB_SIM', 'GVB_SIM_COMMAND', 'GVB_CHECK_DETAILS'];
    const passed = ofSimulation.flatMap((name) => (caller[name] === undefined ? [] : [[name, caller[name]]]));
    return { ...(Object.fromEntries(passed) as Record<string, string>), [POD_VARIABLE]: pod.name };
  }

  /**
   * Starts a pod whose first card is the measured one. After a few tries a round is measured on the whole card that its pod got, and
   * compared with rounds on that card alone. `beside`: the card that it has to be on, where another pod of the round is there; null:
   * there is none.
   */
  async #onCard(run: RunState, beside: TrueGpu | null): Promise<OnCard> {
    const wanted = beside ?? run.gpu;
    const others = new Set<string>();
    for (let tries = 1; ; tries++) {
      const looked = await this.#look(this.#options.template, run.target, run.signal);
      const failure = failureToLook(looked.description);
      const gpu = failure ? undefined : gpuOf(looked.description, { wanted, run, mayMove: tries >= TRIES && !beside });
      if (gpu) {
        this.#looking.delete(looked.pod);
        return { ...looked, gpu };
      }
      await this.#removed(looked.pod);
      if (failure) throw failure;
      for (const { uuid } of looked.description.inspection.devices) others.add(uuid);
      if (tries < TRIES) continue;
      throw new PodFailed(
        `${TRIES} pods in a row got ${[...others].join(', ') || 'no GPU'} where ${wanted.uuid} is measured: cards of one model differ, so this is refused. Give the pod a node with one GPU, or name the card as its layer allows (HAMi: annotation nvidia.com/use-gpuuuid)`,
      );
    }
  }

  /** What the cluster gave the pod: a daemon of MPS states its limits nowhere, so a process reads them back. */
  async #adopted({ pod, description, gpu }: OnCard, run: RunState): Promise<Adopted> {
    const stated = adoptedFrom(description, gpu);
    const device = measuredDevice(description, gpu);
    if (!mayBeSplit(stated) || !device) return stated;
    if (!this.#hasTruth) return withReadBack(stated, unknownCard(device.multiprocessors));
    const worker = await this.#worker(pod, run.target, run.signal);
    try {
      const share = await lookAtShare(worker, gpu.uuid, run);
      return withReadBack(stated, readBack({ multiprocessors: device.multiprocessors, ...share }, gpu));
    } finally {
      await worker.stop();
    }
  }

  /** Starts a pod and looks at it by a worker. */
  async #look(template: Template, target: Target, signal?: AbortSignal): Promise<Looked> {
    const pod = await this.#start(template, signal);
    this.#looking.add(pod);
    try {
      const worker = await this.#worker(pod, target, signal);
      try {
        const description = await describe(worker, target, signal);
        if (this.launcher.clockOffsetNs === 0) this.launcher.setClockOffset(await clockOffsetOf(worker));
        return { pod, description };
      } finally {
        await worker.stop();
      }
    } catch (error) {
      await this.#removed(pod);
      throw error;
    }
  }

  #worker(pod: LivingPod, target: Target, signal?: AbortSignal): Promise<Worker> {
    const start = { launcher: this.launcher, environment: this.#variables(pod, target), argvPrefix: [] };
    return Worker.start({ start, ...(signal && { signal }) });
  }

  async #start(template: Template, signal?: AbortSignal): Promise<LivingPod> {
    const { startTimeoutMs, deadlineSeconds, node } = this.#options;
    const [program = '', ...options] = this.#kubectl.argv;
    this.#guardian ??= new CleanUpGuardian({
      program: guardianProgram,
      argv: [selectRun(this.#id), `${MARK}=${this.#id}`, program, ...options],
      environment: this.#kubectl.environment,
      what: 'pods',
    });
    const shortName = this.name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, NAME_LENGTH);
    const pod = podOf(template, {
      name: `gvb-${this.#id}-${shortName}-${++this.#count}`,
      runId: this.#id,
      owner: ownIdentity(),
      deadlineSeconds,
      node,
      nodeName: this.#nodeName,
    });
    const { container } = template;
    const besideMs = this.#pods.size > 0 ? BESIDE_MS : null;
    return LivingPod.start(pod, { kubectl: this.#kubectl, container, patienceMs: startTimeoutMs, besideMs, signal });
  }

  async #removed(pod: LivingPod): Promise<void> {
    this.#looking.delete(pod);
    const left = await pod.remove();
    if (left !== null) throw new BenchError('SYSTEM', `${this.name}: ${left}.`);
  }

  async #lookAtTruth(truth: Template, uuid: string, target: Target, signal: AbortSignal): Promise<Elsewhere> {
    const pod = await this.#start(truth, signal);
    this.#looking.add(pod);
    try {
      const worker = await this.#worker(pod, target, signal);
      this.#truthPod = { pod, worker };
      return await lookAtTruth(worker, { name: this.name, uuid, target, signal });
    } catch (error) {
      if (this.#truthPod === null) await this.#removed(pod);
      throw error;
    }
  }
}

interface Wanted {
  wanted: TrueGpu;
  run: RunState;
  mayMove: boolean;
}

/** The card of a pod that can be measured: the wanted one, or another whole one. */
function gpuOf(description: Description, { wanted, run, mayMove }: Wanted): TrueGpu | undefined {
  if (measuredDevice(description, wanted)) return wanted;
  const [first] = description.inspection.devices;
  if (!mayMove || !first || isInstance(first.uuid) || isInstance(wanted.uuid)) return undefined;
  // What a layer shows of a card is not the card; without a truth nothing else is known of it.
  const shown = run.visibleGpus?.find(({ uuid }) => uuid === first.uuid);
  return shown ?? (run.hasTruth === false ? first : undefined);
}
