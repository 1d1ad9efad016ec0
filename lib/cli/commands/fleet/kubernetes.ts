/** `gpu-virt-bench fleet kubernetes` writes the plan and the manifest of a fleet for Kubernetes, and applies it if asked to. */
import { resolve } from 'node:path';
import { yamlLibrary } from '../../../config/yaml-library.js';
import { quoted, UsageError } from '../../../errors/usage-error.js';
import {
  checked,
  type ClusterSettings,
  indexedJob,
  planMap,
  planSelector,
} from '../../../fleet/kubernetes/job-manifest.js';
import { CLUSTER, clusterText } from '../../../fleet/kubernetes/cluster-file.js';
import { MANIFEST } from '../../../fleet/kubernetes/resent-job.js';
import { commandLine } from '../../../results/text/command-line.js';
import { plain } from '../../../results/text/plain.js';
import { isSecret } from '../../../systems/input/spec.js';
import { inFleet, writeFleet } from '../../files/fleet-folder.js';
import { variableOf } from '../../options/env-option.js';
import { exitCodes } from '../../options/exit-codes.js';
import { say } from '../../terminal/talk.js';
import { newPlan } from './new-plan.js';
import { schedulerOf, sendMissing } from './submit.js';

export interface RawKubernetesOptions {
  output: string;
  image: string;
  nodes?: string;
  nodelist?: string;
  namespace?: string;
  context?: string;
  gpu: string;
  cpu: string;
  memory: string;
  nodeSelector?: string[];
  toleration?: string[];
  runtimeClass?: string;
  env?: string[];
  secret?: string[];
  claim?: string;
  time: string;
  tool?: string;
  kubectl: string;
  submit?: true;
}

const MOST_NODES = 10_000;

/** `checkOptions` refuses options that the command of the nodes does not have: they would see so after their queue. */
export async function kubernetes(
  words: readonly string[],
  raw: RawKubernetesOptions,
  checkOptions: (command: string, args: readonly string[]) => void,
): Promise<number> {
  const folder = resolve(raw.output);
  const nodes = nodesOf(raw);
  const count = nodes.length > 0 ? nodes.length : countOf(raw);
  const plan = newPlan(words, {
    scheduler: 'kubernetes',
    // A Job does not say which index runs on which node: the delivery does.
    tasks: Array.from({ length: count }, (_, index) => ({ index })),
  });
  checkOptions(plan.command, plan.arguments);
  const settings = settingsOf(raw, nodes);
  // Both refuse what must not be in a manifest, before anything is written.
  const manifest = [planMap(plan, settings), indexedJob(plan, settings)]
    .map((each) => yamlLibrary().stringify(each, { aliasDuplicateObjects: false }))
    .join('---\n');
  return inFleet(folder, '--output', async () => {
    const files = { [MANIFEST]: manifest, [CLUSTER]: clusterText(plan, raw.kubectl, raw.context) };
    await writeFleet(folder, plan, files);
    say(`Wrote the plan of ${count} tasks and its manifest to ${plain(folder)}.`);
    if (raw.submit) await sendMissing(await schedulerOf(folder, plan), { folder, plan, withRefused: false });
    else say(`Send it with: ${commandLine(['fleet', 'submit', raw.output])}`);
    if (raw.claim !== undefined)
      say(`The deliveries are on the volume of ${raw.claim}: copy deliveries/ from there before fleet collect.`);
    const own = raw.namespace === undefined ? '' : ` --namespace=${raw.namespace}`;
    say(`Remove everything with: kubectl delete job,configmap${own} --selector=${planSelector(plan)}`);
    return exitCodes.ok;
  });
}

function nodesOf({ nodelist, nodes }: RawKubernetesOptions): string[] {
  if ((nodelist === undefined) === (nodes === undefined))
    throw new UsageError('Expected --nodes or --nodelist: how many nodes to measure, or which.');
  if (nodelist === undefined) return [];
  const names = nodelist.split(',').map((name) => checked('labelValue', name.trim(), 'a name of --nodelist'));
  const twice = names.find((name, index) => name === '' || names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new UsageError(`Expected --nodelist to name each node once but received ${quoted(nodelist)}.`);
  return names;
}

const countOf = ({ nodes = '' }: RawKubernetesOptions): number => integer(nodes, MOST_NODES, '--nodes');

function integer(text: string, most: number, what: string): number {
  const value = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw new UsageError(`Expected ${what} to be an integer from 1 to ${most} but received ${quoted(text)}.`);
}

/** Variables that the manifest or the Job sets. */
const OWN = ['NODE_NAME', 'HOME', 'JOB_COMPLETION_INDEX'];
const MOST_GPUS = 64;
const MOST_PROCESSORS = 1_024;
const MOST_SECONDS = 30 * 86_400;

function settingsOf(raw: RawKubernetesOptions, nodes: readonly string[]): ClusterSettings {
  const { namespace, runtimeClass, claim } = raw;
  const [resource = '', count = '1', ...more] = raw.gpu.split('=');
  if (more.length > 0)
    throw new UsageError(`Expected --gpu to be RESOURCE or RESOURCE=COUNT but received ${quoted(raw.gpu)}.`);
  const environment = (raw.env ?? []).map(publicVariable);
  const secrets = (raw.secret ?? []).map(secretOf);
  const names = [...environment.map(([name]) => name), ...secrets.map(({ variable }) => variable)];
  const wrong = names.find((name, index) => OWN.includes(name) || names.indexOf(name) !== index);
  if (wrong !== undefined)
    throw new UsageError(
      `Expected --env and --secret to name each variable once, and none of ${OWN.join(', ')}, but received ${wrong}.`,
    );
  return {
    namespace: namespace === undefined ? undefined : checked('label', namespace, '--namespace'),
    image: checked('image', raw.image, '--image'),
    tool: [raw.tool ?? 'gpu-virt-bench'],
    gpu: { resource: checked('qualified', resource, '--gpu'), count: integer(count, MOST_GPUS, 'the count of --gpu') },
    cpu: integer(raw.cpu, MOST_PROCESSORS, '--cpu'),
    memory: checked('quantity', raw.memory, '--memory'),
    nodes,
    nodeSelector: Object.fromEntries((raw.nodeSelector ?? []).map((text) => selectorOf(text))),
    tolerations: (raw.toleration ?? []).map((text) => tolerationOf(text)),
    runtimeClass: runtimeClass === undefined ? undefined : checked('subdomain', runtimeClass, '--runtime-class'),
    environment: Object.fromEntries(environment),
    secrets,
    claim: claim === undefined ? null : checked('subdomain', claim, '--claim'),
    seconds: integer(raw.time, MOST_SECONDS, '--time'),
  };
}

function selectorOf(text: string): [string, string] {
  const [key = '', value = ''] = halves(text, '=');
  return [
    checked('qualified', key, 'the key of --node-selector'),
    checked('labelValue', value, 'the value of --node-selector'),
  ];
}

/** `KEY`, `KEY=VALUE`, with `:EFFECT` or without. */
function tolerationOf(text: string): ClusterSettings['tolerations'][number] {
  const [named = '', effect] = halves(text, ':');
  const [key = '', value] = halves(named, '=');
  const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
  if (effect !== undefined && !effects.includes(effect))
    throw new UsageError(
      `Expected the effect of --toleration to be ${effects.join(', ')} but received ${quoted(effect)}.`,
    );
  return {
    key: checked('qualified', key, 'the key of --toleration'),
    ...(value === undefined
      ? { operator: 'Exists' }
      : { operator: 'Equal', value: checked('labelValue', value, 'the value of --toleration') }),
    ...(effect !== undefined && { effect }),
  };
}

function halves(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** A manifest is kept, and everybody who may list jobs can read it. */
function publicVariable(text: string): [string, string] {
  const { name, value } = variableOf(text);
  checked('variable', name, 'the name of --env');
  if (!isSecret(name)) return [name, value];
  throw new UsageError(
    `Expected --env to name what may stand in a manifest but received ${name}, which is secret: put it into a secret of the cluster and give --secret ${name}=SECRET/KEY.`,
  );
}

function secretOf(text: string): ClusterSettings['secrets'][number] {
  const [variable, where = ''] = halves(text, '=');
  const [secret, key = ''] = halves(where, '/');
  return {
    variable: checked('variable', variable, 'the variable of --secret'),
    secret: checked('subdomain', secret, 'the name of --secret'),
    key: checked('secretKey', key, 'the key of --secret'),
  };
}
