/** One pod from its creation until it is deleted. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from 'kubernetes-types/core/v1.js';
import { durationText } from '../../../config/duration.js';
import { messageOf } from '../../../errors/message-of.js';
import type { Kubectl } from './kubectl.js';
import { isRunning, isUnschedulable, whyOver, whyWaiting } from './pod-state.js';

const FIRST_LOOK_MS = 200;
const LONGEST_LOOK_MS = 2_000;
/** A pod has 5 s to end, and its node some time to say so. */
const REMOVAL_MS = 60_000;

interface Patience {
  patienceMs: number;
  /** How long it may find no node while another pod of the same system runs, which may be what is in its way; null: none does. */
  besideMs: number | null;
}

interface StartOptions extends Patience {
  kubectl: Kubectl;
  /** Name of the container that measures. */
  container: string;
  signal: AbortSignal | undefined;
}

export class PodFailed extends Error {}

interface Found {
  uid: string;
  node: string;
  /** The image as the node has it. */
  imageId: string;
  qosClass: string;
}

export class LivingPod {
  readonly name: string;
  readonly #kubectl: Kubectl;
  readonly #container: string;
  #found: Found | null = null;

  private constructor(name: string, kubectl: Kubectl, container: string) {
    [this.name, this.#kubectl, this.#container] = [name, kubectl, container];
  }

  /** Resolves when its container runs. Rejects with PodFailed, and leaves nothing, if it does not in time. */
  static async start(pod: Pod, { kubectl, container, signal, ...patience }: StartOptions): Promise<LivingPod> {
    const living = new LivingPod(pod.metadata?.name ?? '', kubectl, container);
    try {
      await kubectl.create(pod);
      await living.#untilRunning(patience, signal);
      return living;
    } catch (error) {
      const left = await living.remove();
      if (left !== null && error instanceof Error) error.message += ` ${left}.`;
      throw error;
    }
  }

  get found(): Found {
    if (!this.#found) throw new Error(`Pod ${this.name} does not run yet.`);
    return this.#found;
  }

  /** What the cluster says of it, if it is not well; null if it is, or nobody answers. */
  async whyOver(): Promise<string | null> {
    try {
      const pod = await this.#kubectl.pod(this.name);
      return pod === null ? 'the pod is gone' : whyOver(pod, this.#container);
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Answers why it is still there; null if it is gone. */
  async remove(): Promise<string | null> {
    const left = await this.#kubectl.remove(this.name, REMOVAL_MS);
    return left === null ? null : `pod ${this.name} could not be deleted (${left}): kubectl delete pod ${this.name}`;
  }

  async #untilRunning({ patienceMs, besideMs }: Patience, signal: AbortSignal | undefined): Promise<void> {
    const began = performance.now();
    for (let wait = FIRST_LOOK_MS; ; wait = Math.min(1.5 * wait, LONGEST_LOOK_MS)) {
      signal?.throwIfAborted();
      const pod = await this.#kubectl.pod(this.name);
      if (pod === null) throw new PodFailed('something deleted the pod before it ran');
      if (isRunning(pod, this.#container)) return void (this.#found = foundIn(pod, this.#container));
      const over = whyOver(pod, this.#container);
      if (over !== null) throw new PodFailed(over);
      const waitedMs = performance.now() - began;
      if (besideMs !== null && waitedMs > besideMs && isUnschedulable(pod))
        throw new PodFailed(`there is no room for it beside the other pods: ${whyWaiting(pod, this.#container)}`);
      if (waitedMs > patienceMs)
        throw new PodFailed(`it did not run within ${durationText(patienceMs)}: ${whyWaiting(pod, this.#container)}`);
      await sleep(wait, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}

function foundIn({ metadata, spec, status }: Pod, container: string): Found {
  const own = status?.containerStatuses?.find(({ name }) => name === container);
  return {
    uid: metadata?.uid ?? 'unknown',
    node: spec?.nodeName ?? 'unknown',
    imageId: own?.imageID ?? 'unknown',
    qosClass: status?.qosClass ?? 'unknown',
  };
}
