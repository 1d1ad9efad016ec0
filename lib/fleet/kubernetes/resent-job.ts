/** The Job for tasks that are sent again: the one of the manifest, as the user may have changed it, for these tasks alone. */
import { join } from 'node:path';
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { Affinity, Container, NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import { yamlLibrary } from '../../config/yaml-library.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { rangesText } from '../index-ranges.js';
import { bytesOf, UnreadableError } from '../../saved/regular-file.js';
import type { FleetPlan } from '../plan.js';
import { CONTAINER, jobName } from './job-manifest.js';

/** Name of the manifest in a fleet's folder. */
export const MANIFEST = 'job.yaml';
/** Annotation with the tasks of a Job whose completion indices are not those of the plan. */
export const TASKS = 'gpu-virt-bench/tasks';
const MOST_BYTES = 64 * 2 ** 20;

export interface Manifest {
  text: string;
  job: Job;
  /** What the Job needs, such as the ConfigMap with the plan. */
  others: readonly object[];
  namespace: string | undefined;
  /** Whether deliveries go to a volume, and not through the logs. */
  hasVolume: boolean;
}

/** Throws UsageError. */
export async function readManifest(folder: string, plan: FleetPlan): Promise<Manifest> {
  const file = join(folder, MANIFEST);
  const refused = (why: string) =>
    new UsageError(`Expected the manifest of the fleet but received ${quoted(file)}: ${why}.`);
  const text = await bytesOf(file, MOST_BYTES).then(String, (error: unknown) => {
    throw error instanceof UnreadableError ? refused(error.why) : error;
  });
  const { isMap, parseAllDocuments } = yamlLibrary();
  const documents = parseAllDocuments(text);
  if (documents.some((each) => each.errors.length > 0 || !isMap(each.contents)))
    throw refused('it is no YAML of objects');
  const objects = documents.map((each) => each.toJS() as Job);
  const job = objects.find(({ kind }) => kind === 'Job');
  const containers = job?.spec?.template.spec?.containers;
  if (job === undefined || job.metadata?.name !== jobName(plan) || !Array.isArray(containers))
    throw refused(`it has no Job ${jobName(plan)} with containers`);
  const { volumes = [] } = job.spec?.template.spec ?? {};
  return {
    text,
    job,
    others: objects.filter((each) => each !== job),
    namespace: job.metadata.namespace,
    hasVolume: volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined),
  };
}

interface Resent {
  /** The name of the Job ends in it. */
  number: number;
  indices: readonly number[];
  /** Nodes that have delivered. */
  notOn: readonly string[];
}

export function resentJob({ job }: Manifest, { number, indices, notOn }: Resent): Job {
  const { metadata, spec, ...rest } = structuredClone(job);
  if (spec?.template.spec === undefined) throw new Error('The manifest was not checked.');
  const { template } = spec;
  const tasks = { [TASKS]: rangesText(indices) };
  return {
    ...rest,
    metadata: {
      ...metadata,
      name: `${metadata?.name}-${number}`,
      annotations: { ...metadata?.annotations, ...tasks },
    },
    spec: {
      ...spec,
      completions: indices.length,
      parallelism: indices.length,
      template: {
        ...template,
        spec: {
          ...spec.template.spec,
          containers: spec.template.spec.containers.map((each) => withTasks(each, indices)),
          ...(notOn.length > 0 && { affinity: elsewhere(template.spec?.affinity, notOn) }),
        },
      },
    },
  };
}

/** Its completion index chooses one of the tasks. */
function withTasks(container: Container, indices: readonly number[]): Container {
  if (container.name !== CONTAINER) return container;
  return { ...container, command: [...(container.command ?? []), '--tasks', rangesText(indices)] };
}

/** A field takes one name, and all fields of a term have to match. */
function elsewhere(affinity: Affinity | undefined, notOn: readonly string[]): Affinity {
  const fields = notOn.map((name) => ({ key: 'metadata.name', operator: 'NotIn', values: [name] }));
  const { nodeAffinity } = affinity ?? {};
  const { nodeSelectorTerms = [{}] as NodeSelectorTerm[] } =
    nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  const terms = nodeSelectorTerms.map((term) => ({ ...term, matchFields: [...(term.matchFields ?? []), ...fields] }));
  return {
    ...affinity,
    nodeAffinity: { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  };
}
