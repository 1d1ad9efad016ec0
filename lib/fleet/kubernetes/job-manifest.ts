/** The manifest of a fleet: a ConfigMap with the plan, and an Indexed Job with one pod a node. */
import type { Job } from 'kubernetes-types/batch/v1.js';
import type {
  ConfigMap,
  Container,
  EnvVar,
  PodSpec,
  Toleration,
  Volume,
  VolumeMount,
} from 'kubernetes-types/core/v1.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import type { FleetPlan } from '../plan.js';

export interface ClusterSettings {
  namespace: string | undefined;
  image: string;
  /** The command that starts gpu-virt-bench in the image. */
  tool: readonly string[];
  /** Resource that a pod gets, e.g. `nvidia.com/gpu`, and how many of it. */
  gpu: { resource: string; count: number };
  cpu: number;
  /** In the notation of Kubernetes. */
  memory: string;
  /** Names of nodes; empty: any that fits. */
  nodes: readonly string[];
  nodeSelector: Readonly<Record<string, string>>;
  tolerations: readonly Toleration[];
  runtimeClass: string | undefined;
  environment: Readonly<Record<string, string>>;
  /** Variables from secrets of the cluster. */
  secrets: readonly { variable: string; secret: string; key: string }[];
  /** A volume claim for the deliveries that all nodes can write; null: they go through the logs. */
  claim: string | null;
  /** Time limit of the whole job. */
  seconds: number;
}

/** Folder of the fleet in every pod. */
const FLEET = '/fleet';
export const CONTAINER = 'bench';
const PLAN_LABEL = 'gpu-virt-bench/plan';
const HOSTNAME = 'kubernetes.io/hostname';
/** Deliveries in logs are there as long as the pods. */
const KEPT_SECONDS = 7 * 86_400;
/** Time for MPS and layers to end, and for what was measured to be delivered. */
const GRACE_SECONDS = 60;
/** What a ConfigMap may hold, less what it needs besides. */
const MOST_BYTES = 1_000_000;
/** The exit codes after which another try would end the same way: a usage error, and a layer that is not active. */
const FINAL_CODES = [2, 5];
const RETRIES = 1;

export const jobName = ({ id }: Pick<FleetPlan, 'id'>): string => `gvb-${id}`;
export const planSelector = ({ id }: Pick<FleetPlan, 'id'>): string => `${PLAN_LABEL}=${id}`;

const labels = ({ id }: FleetPlan) => ({ 'app.kubernetes.io/managed-by': 'gpu-virt-bench', [PLAN_LABEL]: id });

/** Throws UsageError if the plan does not fit into a ConfigMap. */
export function planMap(plan: FleetPlan, { namespace }: ClusterSettings): ConfigMap {
  const text = JSON.stringify(plan);
  if (Buffer.byteLength(text) > MOST_BYTES)
    throw new UsageError(
      `Expected a plan that fits into a ConfigMap but received one of ${plan.tasks.length} tasks: plan several fleets.`,
    );
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: jobName(plan), ...(namespace !== undefined && { namespace }), labels: labels(plan) },
    immutable: true,
    data: { 'plan.json': text },
  };
}

export function indexedJob(plan: FleetPlan, settings: ClusterSettings): Job {
  const count = plan.tasks.length;
  const { namespace, seconds } = settings;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: jobName(plan), ...(namespace !== undefined && { namespace }), labels: labels(plan) },
    spec: {
      completionMode: 'Indexed',
      completions: count,
      parallelism: count,
      backoffLimitPerIndex: RETRIES,
      podFailurePolicy: {
        rules: [
          {
            action: 'FailIndex',
            onExitCodes: { containerName: CONTAINER, operator: 'In', values: FINAL_CODES },
          },
          // A drained or preempted node says nothing of its GPU: the try does not count.
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        ],
      },
      activeDeadlineSeconds: seconds,
      ttlSecondsAfterFinished: KEPT_SECONDS,
      template: { metadata: { labels: labels(plan) }, spec: podSpec(plan, settings) },
    },
  };
}

function podSpec(plan: FleetPlan, settings: ClusterSettings): PodSpec {
  const { nodes, nodeSelector, tolerations, runtimeClass } = settings;
  return {
    // backoffLimitPerIndex needs it.
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    // Variables of every service would change what a program sees.
    enableServiceLinks: false,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    ...(runtimeClass !== undefined && { runtimeClassName: runtimeClass }),
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector: { ...nodeSelector } }),
    ...(tolerations.length > 0 && { tolerations: [...tolerations] }),
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, fsGroup: 65_532 },
    affinity: {
      // One pod a node.
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { [PLAN_LABEL]: plan.id } }, topologyKey: HOSTNAME },
        ],
      },
      ...(nodes.length > 0 && { nodeAffinity: onNodes(nodes) }),
    },
    containers: [containerOf(settings)],
    volumes: volumesOf(plan, settings),
  };
}

const onNodes = (values: readonly string[]) => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: HOSTNAME, operator: 'In', values: [...values] }] }],
  },
});

function containerOf(settings: ClusterSettings): Container {
  const { image, tool, gpu, cpu, memory, claim } = settings;
  // Requests equal to limits, and whole processors: the pod is Guaranteed, and may have processors of its own.
  const amounts = { cpu: String(cpu), memory, [gpu.resource]: String(gpu.count) };
  const deliver = claim === null ? ['--deliver', 'stdout'] : [];
  return {
    name: CONTAINER,
    image,
    command: [...tool.map(literal), 'fleet', 'node', '--plan', FLEET, ...deliver],
    env: variablesOf(settings),
    resources: { requests: amounts, limits: amounts },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    volumeMounts: mountsOf(settings),
  };
}

/** Kubernetes replaces `$(NAME)` in commands and values, unless its dollar is doubled. */
const literal = (text: string): string => text.replaceAll('$', '$$$$');

/** Only what was named, and the node's name. JOB_COMPLETION_INDEX is the Job's. */
const variablesOf = ({ environment, secrets }: ClusterSettings): EnvVar[] => [
  { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  { name: 'HOME', value: '/tmp' },
  ...Object.entries(environment).map(([name, value]) => ({ name, value: literal(value) })),
  ...secrets.map(({ variable, secret, key }) => ({
    name: variable,
    valueFrom: { secretKeyRef: { name: secret, key } },
  })),
];

const mountsOf = ({ claim }: ClusterSettings): VolumeMount[] => [
  ...(claim === null ? [] : [{ name: 'fleet', mountPath: FLEET }]),
  { name: 'plan', mountPath: `${FLEET}/plan.json`, subPath: 'plan.json', readOnly: true },
  { name: 'tmp', mountPath: '/tmp' },
  { name: 'shm', mountPath: '/dev/shm' },
];

const volumesOf = (plan: FleetPlan, { claim }: ClusterSettings): Volume[] => [
  ...(claim === null ? [] : [{ name: 'fleet', persistentVolumeClaim: { claimName: claim } }]),
  { name: 'plan', configMap: { name: jobName(plan) } },
  { name: 'tmp', emptyDir: {} },
  // The default of 64 MiB is too small for NCCL.
  { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
];

/** Names that Kubernetes takes. Everything else is refused before it is written. */
const patterns = {
  label: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  subdomain: /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  qualified: /^(?=.{1,316}$)([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
  labelValue: /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/,
  image: /^(?=.{1,512}$)[A-Za-z0-9][A-Za-z0-9._\-/:@+]*$/,
  quantity: /^[1-9]\d{0,9}(Ki|Mi|Gi|Ti|k|M|G|T)?$/,
  variable: /^[A-Za-z_][A-Za-z0-9_]{0,254}$/,
  secretKey: /^[-A-Za-z0-9_.]{1,253}$/,
} as const;

/** The text, if it is one; throws UsageError otherwise. `what` is the option. */
export function checked(kind: keyof typeof patterns, text: string, what: string): string {
  if (patterns[kind].test(text)) return text;
  throw new UsageError(`Expected ${what} to be ${words[kind]} but received ${quoted(text)}.`);
}

const words: Readonly<Record<keyof typeof patterns, string>> = {
  label: 'a name of lower-case letters, digits and -',
  subdomain: 'a name of lower-case letters, digits, - and dots',
  qualified: 'a name such as nvidia.com/gpu',
  labelValue: 'the value of a label, at most 63 letters, digits, -, _ and dots',
  image: 'the name of an image',
  quantity: 'a quantity such as 16Gi',
  variable: 'the name of a variable',
  secretKey: 'the key of a secret',
};
