/** Whether a worker is in its pod, on the card, and under what its template asks for. */
import { POD_VARIABLE } from '../../../workers/pod/pod-variables.js';
import type { Description } from '../../../workers/description.js';
import type { LayerInfo } from '../../../results/document.js';
import * as proofs from '../../proof/attestation.js';
import { interceptionText, interceptors } from '../../proof/interception.js';
import { pinnedMemory, threadPercentage } from '../../proof/mps-limits.js';
import type { Finding } from '../../proof/proof-finding.js';
import type { Canary, Evidence, TrueGpu } from '../../system.js';
import type { Adopted } from './adopted-limits.js';
import type { ReadBack } from './equal-split.js';
import type { LivingPod } from './living-pod.js';
import type { Mechanism } from './pod-settings.js';
import type { Asked } from './pod-template.js';

export function inPod({ environment }: Description, pod: LivingPod | undefined): Finding {
  const proof = 'in a pod of this run';
  const name = environment[POD_VARIABLE];
  if (!pod) return { proof, passed: false, detail: `the worker names ${name ?? 'none'}` };
  const { uid, node } = pod.found;
  return { proof, passed: true, detail: `pod ${pod.name} (${uid}) on node ${node}` };
}

/** What was injected into a later pod must be what was injected into the first. */
export function sameLimits(first: Adopted, now: Adopted): Finding {
  const text = ({ memoryBytes, smPercent }: Adopted) =>
    `memory ${memoryBytes ?? 'unlimited'}, SM ${smPercent === null ? 'unlimited' : `${smPercent} %`}`;
  return {
    proof: 'limits that were injected are those of the first pod',
    passed: first.memoryBytes === now.memoryBytes && first.smPercent === now.smPercent,
    detail: text(first) === text(now) ? text(now) : `${text(now)}, at first ${text(first)}`,
    advice: 'Something changed what the cluster injects: measure again.',
  };
}

const words: Readonly<Record<Mechanism, string>> = {
  whole: 'the bare driver',
  layer: 'a layer that intercepts',
  mps: 'a client of MPS',
  mig: 'a MIG instance',
};

const advice: Readonly<Record<Mechanism, string>> = {
  whole: 'Something injects a layer: name it with under=, or leave the pod out of its webhook.',
  layer:
    'Nothing enforces what the template asks for: check the webhook, the runtime class and, with KAI, its resource isolator (docs/pods.md).',
  mps: "The control daemon of the node may not run: check the device plugin's configuration and its daemon set.",
  mig: 'The node is not partitioned as the template asks: check the label nvidia.com/mig.config.',
};

export function underAsked(asked: Asked, now: Adopted, description: Description): Finding {
  const seen =
    now.mechanism === 'layer'
      ? interceptionText(interceptors(description.provenance), description.provenance.functions.length)
      : words[now.mechanism];
  return {
    proof: 'what the template asks for is there',
    passed: asked.mechanism === now.mechanism,
    detail: `${words[asked.mechanism]} is asked for (${asked.because}), inside is ${seen}`,
    advice: advice[asked.mechanism],
  };
}

/** A layer can be loaded and know no limit, because nothing passed it on: it then limits nothing. */
export function limitsGiven({ limits, because }: Asked, { memoryBytes, smPercent }: Adopted): Finding[] {
  const missing = limits.filter((limit) => (limit === 'memory' ? memoryBytes : smPercent) === null);
  if (limits.length === 0) return [];
  const names = (some: Asked['limits']) => some.join(' and ');
  return [
    {
      proof: 'limits that the template asks for were injected',
      passed: missing.length === 0,
      detail:
        missing.length === 0
          ? names(limits)
          : `${names(limits)} asked for (${because}), no limit of ${names(missing)} is in the environment of the container`,
      advice:
        'The layer is there, but nobody told it the limit: check the webhook that sets it (CUDA_DEVICE_MEMORY_LIMIT, CUDA_DEVICE_SM_LIMIT). With KAI, some versions of the resource isolator set none.',
    },
  ];
}

interface Judged {
  adopted: Adopted;
  gpu: TrueGpu;
  look: Evidence;
  canaries: readonly Canary[];
  /** Whether the card is as a process outside the pod's mechanism shows it. */
  hasTruth: boolean;
}

/** The proofs of a mechanism. */
export function ofMechanism(description: Description, { adopted, gpu, look, canaries, hasTruth }: Judged): Finding[] {
  const device = proofs.measuredDevice(description, gpu);
  const { memoryBytes, smPercent, mechanism } = adopted;
  const refusals = proofs.allocationCanary(look.probe, canaries, look.phase);
  const limits = [
    ...(memoryBytes === null ? [] : [proofs.memoryView(device, look.probe, gpu, memoryBytes)]),
    ...refusals,
  ];
  if (mechanism === 'layer')
    return [
      onPath(description, look),
      proofs.noMpsClient(device),
      ...limits,
      ...readBack(look, memoryBytes, smPercent),
    ];
  if (mechanism === 'mps')
    return [
      proofs.mpsClient(device),
      ...proofs.bareDriver(description),
      ...(adopted.readBack ? [sameMultiprocessors(device, adopted.readBack)] : []),
      ...(smPercent !== null && hasTruth ? [threadPercentage(device, gpu.multiprocessors, smPercent)] : []),
      ...(memoryBytes === null ? [] : [pinnedMemory(look.probe, gpu.memoryBytes, memoryBytes)]),
      ...refusals,
    ];
  return [
    ...proofs.bareDriver(description),
    proofs.noMpsClient(device),
    ...(memoryBytes === null && mechanism === 'whole' ? [proofs.memoryView(device, look.probe, gpu, null)] : limits),
  ];
}

/** The daemon gives every client the same share. */
function sameMultiprocessors(device: proofs.SeenDevice, { multiprocessors }: ReadBack): Finding {
  const seen = device?.multiprocessors ?? null;
  return {
    proof: 'multiprocessors are those of the first pod',
    passed: seen === null ? null : seen === multiprocessors,
    detail: `${seen ?? 'not reported'}, at first ${multiprocessors}`,
    advice: 'The daemon of MPS gives its clients other shares now: measure again.',
  };
}

/** A layer that is off the measured symbol path limits nothing of what is measured. */
function onPath({ provenance }: Description, { path }: Evidence): Finding {
  const [first] = interceptors(provenance);
  const count = first?.byPath[path].length ?? 0;
  return {
    proof: 'the layer intercepts on the measured symbol path',
    passed: count > 0,
    detail: `${first?.owner ?? 'nothing'} owns ${count} of ${provenance.functions.length} functions on ${path}`,
    advice: proofs.advice.escapes,
  };
}

/** Only HAMi-core says its limits; another layer's are seen by the view of memory and by what it refuses. */
function readBack({ probe }: Evidence, memoryBytes: number | null, smPercent: number | null): Finding[] {
  return [
    ...(memoryBytes === null
      ? []
      : [proofs.limitReadBack('memory limit read back', probe?.memoryLimitBytes, memoryBytes)]),
    ...(smPercent === null ? [] : [proofs.limitReadBack('SM limit read back', probe?.smPercent, smPercent)]),
  ];
}

/** The layer as the worker sees it: its file is in the pod. */
export function layerInside(description: Description, library: string | null): LayerInfo | null {
  if (library === null) return null;
  const object = description.provenance.objects.find(({ path }) => path === library);
  const file = description.container?.files.find(({ path }) => path === library);
  return { path: library, sha256: file?.sha256 ?? null, exports: object?.cudaExports ?? 0, active: true };
}
