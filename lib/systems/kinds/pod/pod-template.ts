/** Pods as users write them: read and checked, and made into the pod that is created. */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { Affinity, Container, Pod } from 'kubernetes-types/core/v1.js';
import type { Place } from '../../../config/setting-place.js';
import { yamlValues } from '../../../config/yaml.js';
import { whyUnreadable } from '../../../errors/unreadable.js';
import { quoted, UsageError } from '../../../errors/usage-error.js';
import { dnsLabel, type Mechanism } from './pod-settings.js';

const MAX_BYTES = 2 ** 18;

export interface Template {
  file: string;
  sha256: string;
  pod: Pod;
  /** Name of the container that measures. */
  container: string;
}

/** `place` and `key` are those of the setting that names the file. */
export function readTemplate(
  file: string,
  { place, key, folder, container }: { place: Place; key: string; folder: string; container: string | undefined },
): Template {
  const path = isAbsolute(file) ? file : resolve(folder, file);
  const text = textOf(path, place, key);
  const refuse = (why: string) =>
    new UsageError(`Expected ${place.named(key)} to be a pod but received ${quoted(file)}: ${why}.`);
  const { value } = place.within(key, () => yamlValues(text, file, 'core'));
  const pod = place.within(key, () => checkedPod(value, refuse));
  const names = pod.spec?.containers.map(({ name }) => name) ?? [];
  const [first = ''] = names;
  if (container !== undefined && !names.includes(container))
    throw place.error(
      'container',
      `Expected container of ${place.owner} to be one of ${names.join(', ')} but received ${quoted(container)}.`,
    );
  return {
    file: path,
    sha256: createHash('sha256').update(text).digest('hex'),
    pod,
    container: container ?? first,
  };
}

function textOf(path: string, place: Place, key: string): string {
  try {
    const found = statSync(path);
    if (!found.isFile()) throw place.expected(key, 'a file');
    if (found.size > MAX_BYTES)
      throw place.expected(key, 'a pod', `the file has more than ${MAX_BYTES / 2 ** 10} KiB.`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw place.expected(key, 'a file that can be read', `${whyUnreadable(error)}.`);
  }
}

type Refuse = (why: string) => UsageError;
type Values = Record<string, unknown>;

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Checks what this program reads or changes; the cluster checks the rest. What would keep a pod from being deleted, or give it to
 * another owner, is refused.
 */
function checkedPod(value: unknown, refuse: Refuse): Pod {
  if (!isMap(value)) throw refuse('it is no map');
  if (value.apiVersion !== 'v1' || value.kind !== 'Pod')
    throw refuse(
      `it is ${typeof value.kind === 'string' ? quoted(value.kind) : 'of no kind'}; give apiVersion: v1 and kind: Pod, e.g. the pod template of a Deployment`,
    );
  const { metadata = {}, spec } = value;
  if (!isMap(metadata)) throw refuse('its metadata is no map');
  for (const key of ['finalizers', 'ownerReferences'])
    if (metadata[key] !== undefined) throw refuse(`metadata.${key} would keep it from being deleted; remove it`);
  for (const key of ['labels', 'annotations']) checkTexts(metadata[key], `metadata.${key}`, refuse);
  if (
    metadata.namespace !== undefined &&
    !(typeof metadata.namespace === 'string' && dnsLabel.test(metadata.namespace))
  )
    throw refuse('metadata.namespace is not the name of a namespace');
  if (!isMap(spec)) throw refuse('it has no spec');
  if (spec.ephemeralContainers !== undefined) throw refuse('a pod is not created with ephemeralContainers');
  checkContainers(spec.containers, refuse);
  return value as unknown as Pod;
}

function checkTexts(value: unknown, what: string, refuse: Refuse): void {
  if (value === undefined) return;
  if (!isMap(value)) throw refuse(`${what} is no map`);
  const wrong = Object.entries(value).find(([, each]) => typeof each !== 'string');
  if (wrong) throw refuse(`${quoted(wrong[0])} of ${what} is no text; quote it`);
}

function checkContainers(containers: unknown, refuse: Refuse): void {
  if (!Array.isArray(containers) || containers.length === 0) throw refuse('its spec has no list of containers');
  for (const each of containers as unknown[]) {
    if (!isMap(each) || typeof each.name !== 'string' || !dnsLabel.test(each.name))
      throw refuse('a container needs a name of lower-case letters, digits and -');
    if (typeof each.image !== 'string' || each.image === '') throw refuse(`container ${each.name} has no image`);
    if (each.resources !== undefined && !isMap(each.resources)) throw refuse(`resources of ${each.name} is no map`);
  }
}

const MANAGED_BY = 'app.kubernetes.io/managed-by';
const RUN = 'gpu-virt-bench/run';
/** Who made it: a process identity as JSON. */
export const OWNER = 'gpu-virt-bench/owner';
const SELECT_ALL = `${MANAGED_BY}=gpu-virt-bench`;
/** Pods of systems; those of a fleet belong to their Job. */
export const SELECT_RUNS = `${SELECT_ALL},${RUN}`;
export const selectRun = (runId: string): string => `${SELECT_ALL},${RUN}=${runId}`;

/** Does nothing until the pod is deleted; the first process of a container ignores SIGTERM unless it handles it. */
const IDLE = "process.on('SIGTERM',()=>process.exit(0));setInterval(()=>{},2**30)";
/** Removed from the container that measures: they would end it, or belong to the command that is replaced. */
const replaced = [
  'args',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'stdin',
  'stdinOnce',
  'tty',
] as const;

interface Wanted {
  name: string;
  runId: string;
  owner: object;
  deadlineSeconds: number;
  /** Path of Node in the image. */
  node: string;
  /** The node that it must be on; null: any. */
  nodeName: string | null;
}

export function podOf({ pod, container }: Template, wanted: Wanted): Pod {
  const { spec, metadata = {} } = structuredClone(pod);
  if (!spec) throw new Error('The template was not checked.');
  const { name: _, generateName: __, ...kept } = metadata;
  const { activeDeadlineSeconds = Number.POSITIVE_INFINITY } = spec;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...kept,
      name: wanted.name,
      labels: { ...kept.labels, [MANAGED_BY]: 'gpu-virt-bench', [RUN]: wanted.runId },
      annotations: { ...kept.annotations, [OWNER]: JSON.stringify(wanted.owner) },
    },
    spec: {
      ...spec,
      restartPolicy: 'Never',
      activeDeadlineSeconds: Math.min(wanted.deadlineSeconds, activeDeadlineSeconds),
      containers: spec.containers.map((each) => (each.name === container ? idle(each, wanted.node) : each)),
      ...(wanted.nodeName !== null && { affinity: onNode(spec.affinity, wanted.nodeName) }),
    },
  };
}

function idle(container: Container, node: string): Container {
  const kept = Object.entries(container).filter(([key]) => !(replaced as readonly string[]).includes(key));
  return { ...(Object.fromEntries(kept) as unknown as Container), command: [node, '-e', IDLE] };
}

/** Binds a pod to a node by name and leaves the rest to the scheduler, as a DaemonSet does: spec.nodeName would go past it. */
function onNode(affinity: Affinity | undefined, node: string): Affinity {
  const field = { key: 'metadata.name', operator: 'In', values: [node] };
  const { nodeAffinity } = affinity ?? {};
  const { nodeSelectorTerms = [{}] } = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  const terms = nodeSelectorTerms.map((term) => ({ ...term, matchFields: [...(term.matchFields ?? []), field] }));
  return {
    ...affinity,
    nodeAffinity: { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  };
}

/** What a template asks the cluster for. */
export interface Asked {
  mechanism: Mechanism;
  because: string;
  /** What a layer has to be told. */
  limits: readonly ('memory' | 'SM')[];
}

/** Limits that HAMi-core holds, behind HAMi's own device plugin or volcano's. */
const ofHami =
  /^(nvidia\.com\/(gpumem|gpumem-percentage|gpucores)|volcano\.sh\/vgpu-(memory|memory-percentage|cores))$/;

const KAI = ['gpu-fraction', 'gpu-memory'];

const containerOf = ({ pod, container }: Template) => pod.spec?.containers.find(({ name }) => name === container);

/** The limits that a layer would hold. A share of 0 or 100 % of the time is none. */
function limitsOf(template: Template): Asked['limits'] {
  const { requests, limits } = containerOf(template)?.resources ?? {};
  const all = Object.entries({ ...requests, ...limits });
  const annotations = Object.keys(template.pod.metadata?.annotations ?? {});
  const memory = all.some(([name]) => ofHami.test(name) && name.includes('mem'));
  const cores = all.some(([name, value]) => ofHami.test(name) && name.endsWith('cores') && Number(value) % 100 !== 0);
  return [
    ...(memory || KAI.some((name) => annotations.includes(name)) ? (['memory'] as const) : []),
    ...(cores ? (['SM'] as const) : []),
  ];
}

/** `under`: what the user says that it asks for; undefined: its resources and annotations say it. */
export function askedFor(template: Template, under?: Mechanism): Asked {
  const said = under === undefined ? mechanismOf(template) : { mechanism: under, because: `under=${under}` };
  return { ...said, limits: said.mechanism === 'layer' ? limitsOf(template) : [] };
}

function mechanismOf(template: Template): Pick<Asked, 'mechanism' | 'because'> {
  const { annotations = {} } = template.pod.metadata ?? {};
  const measured = containerOf(template);
  const limits = Object.keys({ ...measured?.resources?.requests, ...measured?.resources?.limits });
  const hami = limits.find((name) => ofHami.test(name));
  if (hami !== undefined) return { mechanism: 'layer', because: hami };
  const kai = KAI.find((name) => annotations[name] !== undefined);
  if (kai !== undefined) return { mechanism: 'layer', because: `annotation ${kai}` };
  const mig = limits.find((name) => name.startsWith('nvidia.com/mig-'));
  if (mig !== undefined) return { mechanism: 'mig', because: mig };
  const variables = measured?.env?.map(({ name }) => name) ?? [];
  if (variables.includes('CUDA_MPS_PIPE_DIRECTORY')) return { mechanism: 'mps', because: 'CUDA_MPS_PIPE_DIRECTORY' };
  return { mechanism: 'whole', because: limits.find((name) => name.startsWith('nvidia.com/')) ?? 'nothing of its own' };
}
