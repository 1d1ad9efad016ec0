/** What `doctor` concludes inside a pod of Kubernetes: under which mechanism it is, and what would make its numbers mean something else. */
import { isInstance } from '../results/cards.js';
import { adoptedFrom, type Adopted } from '../systems/kinds/pod/adopted-limits.js';
import { inWords } from '../config/size.js';
import type { Description } from '../workers/description.js';

interface PodFinding {
  severity: 'warning' | 'note';
  text: string;
  fix: string | null;
}

/** Whether the environment is that of a pod: the kubelet sets this in every one that does not forbid it. */
export const isPod = (environment: NodeJS.ProcessEnv): boolean =>
  environment.KUBERNETES_SERVICE_HOST !== undefined || environment.JOB_COMPLETION_INDEX !== undefined;

const words: Readonly<Record<Adopted['mechanism'], string>> = {
  whole: 'under the bare driver: a whole card, or a share of one by time-slicing, which no process can tell apart',
  layer: 'under a preloaded layer',
  mps: 'that is a client of MPS',
  mig: 'on a MIG instance',
};

export function podFindings(environment: NodeJS.ProcessEnv, description: Description | null): PodFinding[] {
  const [card, ...others] = description?.inspection.devices ?? [];
  if (!isPod(environment) || !description || !card) return [];
  const adopted = adoptedFrom(description, card);
  return [
    { severity: 'note', text: `This is a pod ${words[adopted.mechanism]}${limitsText(adopted)}.`, fix: null },
    ...unenforced(adopted),
    ...(others.length > 0 && !isInstance(card.uuid) ? [several(1 + others.length)] : []),
  ];
}

function limitsText({ memoryBytes, smPercent }: Adopted): string {
  const limits = [
    ...(memoryBytes === null ? [] : [`memory ${inWords(memoryBytes)}`]),
    ...(smPercent === null ? [] : [`compute ${smPercent} %`]),
  ];
  return limits.length === 0 ? '' : `; its environment states the limits ${limits.join(' and ')}`;
}

/** Limits that are stated and that nothing enforces: published numbers would be of the bare driver. */
function unenforced({ mechanism, injected }: Adopted): PodFinding[] {
  const layerLimits = Object.keys(injected).filter((name) => /^CUDA_DEVICE_(MEMORY|SM)_LIMIT/.test(name));
  if (injected.CUDA_DISABLE_CONTROL === 'true' && mechanism !== 'layer')
    return [{ severity: 'note', text: 'CUDA_DISABLE_CONTROL=true leaves the layer of this pod out.', fix: null }];
  if (layerLimits.length > 0 && mechanism !== 'layer')
    return [
      {
        severity: 'warning',
        text: `${layerLimits.join(' and ')} state limits, but no library intercepts the driver: nothing enforces them. Check the webhook, /etc/ld.so.preload and, with KAI, its resource isolator.`,
        fix: null,
      },
    ];
  if (injected.CUDA_MPS_PIPE_DIRECTORY !== undefined && mechanism === 'whole')
    return [
      {
        severity: 'warning',
        text: `CUDA_MPS_PIPE_DIRECTORY is ${injected.CUDA_MPS_PIPE_DIRECTORY}, but this process is no client of MPS: it runs without. Check the MPS daemon of the device plugin.`,
        fix: null,
      },
    ];
  return [];
}

const several = (count: number): PodFinding => ({
  severity: 'note',
  text: `The pod sees ${count} GPUs: run measures the first. A pod that asked for one and sees several has NVIDIA_VISIBLE_DEVICES=all.`,
  fix: null,
});
