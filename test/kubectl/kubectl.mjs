#!/usr/bin/env node
// Stands in for kubectl and a cluster behind it. It keeps the contract of what gpu-virt-bench uses (create and apply -f -, get -o json,
// logs, exec -i, delete), with kubectl's messages and exit codes, and runs pods by `podman kube play`. KUBECONFIG names cluster.json.
// What it cannot do ends with an error, so that no test passes by a command that nobody has.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Cluster } from './state.mjs';

const cluster = new Cluster(process.env.KUBECONFIG ?? '');
appendFileSync(join(cluster.folder, 'calls'), `${JSON.stringify(process.argv.slice(2))}\n`);

function fail(message, code = 1) {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

/** Options with a value; others are flags. */
const valued = [
  'context',
  'namespace',
  'request-timeout',
  'filename',
  'output',
  'selector',
  'container',
  'grace-period',
  'timeout',
  'tail',
  'field-selector',
  'max-log-requests',
];
const short = { n: 'namespace', f: 'filename', o: 'output', l: 'selector', c: 'container', i: 'stdin' };

function parse(argv) {
  const options = {};
  const words = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (word === '--') return { options, words, command: argv.slice(at + 1) };
    const [, long, value] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const name = long ?? (/^-[a-z]$/.test(word) ? short[word[1]] : undefined);
    if (name === undefined && word.startsWith('-') && word !== '-') fail(`error: unknown flag: ${word}`);
    if (name === undefined) words.push(word);
    else if (valued.includes(name)) options[name] = value ?? argv[++at];
    else options[name] = value ?? 'true';
  }
  return { options, words, command: null };
}

const { options, words, command } = parse(process.argv.slice(2));
const [verb, ...rest] = words;
const namespace = options.namespace ?? 'default';
const { contexts = [] } = cluster.settings;
if (options.context !== undefined && !contexts.includes(options.context))
  fail(`error: context "${options.context}" does not exist`);

async function documentsIn(text) {
  if (text === '') return [];
  // Takes longer to load than all else here.
  const { parseAllDocuments } = await import('yaml');
  return parseAllDocuments(text).map((each) => each.toJS());
}

/** What stdin holds. */
const given = options.filename === '-' ? readFileSync(0, 'utf8') : '';
const documents = given.startsWith('{') ? [JSON.parse(given)] : await documentsIn(given);
const objects = documents.flatMap((each) => (each?.kind === 'List' && each.apiVersion === 'v1' ? each.items : [each]));
/** The pod that the call is about; empty where it is about several. */
const about = objects[0]?.metadata?.name ?? rest.at(-1)?.split('/').at(-1) ?? '';
const call = cluster.count(`verb-${verb}-${about}`);
const failure = (kind) => cluster.faultOf(kind, { pod: about, nth: call, verb });
if (failure('api-timeout')) {
  await sleep(50);
  fail(
    'Unable to connect to the server: net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)',
  );
}
if (failure('forbidden'))
  fail(
    `Error from server (Forbidden): pods is forbidden: User "stand-in" cannot ${verb} resource "pods" in API group "" in the namespace "${namespace}"`,
  );

const notFound = (name) => fail(`Error from server (NotFound): pods "${name}" not found`);
/** The pod that the API shows: what the stand-in itself notes is left out. */
const shown = ({ standIn: _, ...pod }) => pod;
const matching = (pods, selector = '') => {
  const wanted = selector
    .split(',')
    .filter(Boolean)
    .map((each) => each.split('='));
  return pods.filter(({ metadata: { labels = {} } }) =>
    wanted.every(([key, value]) => (value === undefined ? key in labels : labels[key] === value)),
  );
};

/** `pod/NAME` or `pod NAME`. */
function namesIn(args) {
  const [first = '', ...others] = args;
  const [kind, name] = first.split('/');
  if (!['pod', 'pods', 'po'].includes(kind)) fail(`error: the server doesn't have a resource type "${kind}"`);
  return [...(name === undefined ? [] : [name]), ...others];
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

async function problemsOf(object) {
  const models = { Pod: 'v1/Pod', ConfigMap: 'v1/ConfigMap', Job: 'batch/v1/Job' };
  const { kind, apiVersion } = object ?? {};
  const path = Object.hasOwn(models, kind) ? models[kind] : '';
  if (path !== `${apiVersion}/${kind}`)
    return `resource mapping not found: no matches for kind "${kind}" in version "${apiVersion}"`;
  const { name } = object.metadata ?? {};
  if (typeof name !== 'string' || !NAME.test(name) || name.length > 253)
    return `The ${kind} "${name}" is invalid: metadata.name: Invalid value: "${name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'`;
  try {
    const { [kind]: Model } = await import(`kubernetes-models/${path}`);
    new Model(object).validate();
    return null;
  } catch (error) {
    return `The ${kind} "${name}" is invalid: ${error.message}`;
  }
}

/** Creates or applies what stdin holds: pods, and for a Job the pods of all its indices. */
async function create() {
  if (options.filename !== '-') fail('error: the stand-in reads -f - alone');
  for (const each of objects) await createOne(each);
}

async function createOne(object) {
  const own = object?.metadata?.namespace ?? namespace;
  if (options.namespace !== undefined && own !== namespace)
    fail(
      `error: the namespace from the provided object "${own}" does not match the namespace "${namespace}". You must pass '--namespace=${own}' to perform this operation.`,
    );
  const wrong = await problemsOf(object);
  if (wrong !== null) fail(`Error from server (BadRequest): error when creating "STDIN": ${wrong}`);
  if (!cluster.namespaces.includes(own))
    fail(`Error from server (NotFound): error when creating "STDIN": namespaces "${own}" not found`);
  const { name } = object.metadata;
  if (object.kind === 'ConfigMap') cluster.keepMap(own, object);
  else if (object.kind === 'Job') {
    // Applied again it is as it was.
    if (cluster.job(own, name) !== null) return process.stdout.write(`job.batch/${name} unchanged\n`);
    const uid = randomUUID();
    cluster.keepJob(own, {
      ...object,
      metadata: { ...object.metadata, namespace: own, uid, creationTimestamp: new Date().toISOString() },
    });
    for (const pod of podsOf(object)) createPod(pod, own);
  } else return createPod(object, own);
  process.stdout.write(`${object.kind.toLowerCase()}/${name} created\n`);
}

/** What the Job controller makes of it. */
function podsOf({ metadata, spec }) {
  return Array.from({ length: spec.completions }, (_, index) => {
    const pod = JSON.parse(JSON.stringify(spec.template));
    const { containers } = pod.spec;
    for (const container of containers)
      (container.env ??= []).push({ name: 'JOB_COMPLETION_INDEX', value: String(index) });
    pod.metadata = {
      ...pod.metadata,
      name: `${metadata.name}-${index}-${randomUUID().slice(0, 5)}`,
      labels: { ...pod.metadata.labels, 'batch.kubernetes.io/job-name': metadata.name },
      annotations: { ...pod.metadata.annotations, 'batch.kubernetes.io/job-completion-index': String(index) },
    };
    return { apiVersion: 'v1', kind: 'Pod', ...pod };
  });
}

function createPod(object, own) {
  const { name } = object.metadata;
  if (cluster.read(own, name) !== null)
    fail(`Error from server (AlreadyExists): error when creating "STDIN": pods "${name}" already exists`);
  const pod = {
    ...object,
    metadata: { ...object.metadata, namespace: own, uid: randomUUID(), creationTimestamp: new Date().toISOString() },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
    standIn: {},
  };
  cluster.write(pod);
  appendFileSync(join(cluster.folder, 'created'), `${cluster.podmanName(own, name)}\n`);
  // A kubelet runs on another machine: what ends all kubectl of a run does not end it.
  const { GVB_KUBECTL_OF: _, ...ofNobody } = process.env;
  const kubelet = spawn(
    process.execPath,
    [fileURLToPath(new URL('kubelet.mjs', import.meta.url)), process.env.KUBECONFIG, own, name],
    { detached: true, stdio: 'ignore', env: { ...ofNobody, CONTAINERS_CONF: cluster.settings.containersConf } },
  );
  kubelet.unref();
  mkdirSync(join(cluster.folder, 'kubelets'), { recursive: true });
  writeFileSync(join(cluster.folder, 'kubelets', String(kubelet.pid)), '');
  if (cluster.faultOf('lost-answer', { pod: name }))
    fail('Unable to connect to the server: net/http: TLS handshake timeout');
  if (verb === 'create')
    process.stdout.write(options.output === 'json' ? JSON.stringify(shown(pod)) : `pod/${name} created\n`);
}

/** How its controller sees a Job: an index is completed or failed as its pod is, since none is tried again here. */
function statusOf(job) {
  const own = cluster
    .list(job.metadata.namespace)
    .filter(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-name'] === job.metadata.name);
  const at = (phase) =>
    own
      .filter(({ status }) => status.phase === phase)
      .map(({ metadata }) => Number(metadata.annotations['batch.kubernetes.io/job-completion-index']))
      .sort((a, b) => a - b);
  const [completed, failed] = [at('Succeeded'), at('Failed')];
  const isOver = completed.length + failed.length === job.spec.completions;
  const end = {
    status: 'True',
    ...(failed.length > 0 ? { type: 'Failed', reason: 'FailedIndexes' } : { type: 'Complete' }),
  };
  return {
    completedIndexes: completed.join(','),
    failedIndexes: failed.join(','),
    succeeded: completed.length,
    failed: failed.length,
    ...(isOver && { conditions: [end] }),
  };
}

const others = {
  jobs: () => matching(cluster.jobs(namespace), options.selector).map((job) => ({ ...job, status: statusOf(job) })),
  nodes: () =>
    cluster.settings.nodes.map(({ name, gpus }) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      status: { allocatable: { 'nvidia.com/gpu': String(gpus.length), cpu: '8' } },
    })),
};

function get() {
  if (options.output !== 'json') fail('error: the stand-in prints json alone');
  if (rest.length === 1 && Object.hasOwn(others, rest[0]))
    return process.stdout.write(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: others[rest[0]]() }));
  const names = namesIn(rest);
  if (names.length === 1) {
    const pod = cluster.read(namespace, names[0]);
    if (pod === null) {
      if (options['ignore-not-found'] === 'true') return;
      return notFound(names[0]);
    }
    return process.stdout.write(JSON.stringify(shown(pod)));
  }
  const everywhere = options['all-namespaces'] === 'true' ? cluster.namespaces : [namespace];
  const items = matching(
    everywhere.flatMap((each) => cluster.list(each)),
    options.selector,
  ).map(shown);
  process.stdout.write(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

/** A Job with its pods, and the plan of the same name. */
function removeJobs() {
  for (const { metadata } of matching(cluster.jobs(namespace), options.selector)) {
    for (const pod of cluster.list(namespace))
      if (pod.metadata.labels?.['batch.kubernetes.io/job-name'] === metadata.name)
        cluster.markDeleted(namespace, pod.metadata.name);
    cluster.removeJob(namespace, metadata.name);
    process.stdout.write(`job.batch "${metadata.name}" deleted\n`);
  }
}

async function remove() {
  if (rest.join() === 'job,configmap' && options.selector !== undefined) return removeJobs();
  if (rest[0] === 'configmap' && rest.length === 2) return cluster.removeMap(namespace, rest[1]);
  const named = namesIn(rest);
  const names =
    options.selector === undefined
      ? named
      : matching(cluster.list(namespace), options.selector).map(({ metadata }) => metadata.name);
  const isForced = options.force === 'true';
  for (const name of names) {
    const pod = cluster.read(namespace, name);
    if (pod === null && options['ignore-not-found'] !== 'true') notFound(name);
    if (pod === null) continue;
    cluster.markDeleted(namespace, name);
    // A node that is lost never says that a pod of it has ended.
    if (isForced && pod.standIn.isLost) cluster.remove(namespace, name);
    process.stdout.write(`pod "${name}" deleted\n`);
  }
  if (options.wait === 'false') return;
  const timeoutMs = 1000 * (parseFloat(options.timeout ?? '0') || 1e6);
  const until = Date.now() + timeoutMs;
  for (const name of names)
    while (cluster.read(namespace, name) !== null) {
      if (Date.now() > until) fail(`error: timed out waiting for the condition on pods/${name}`);
      await sleep(30);
    }
}

const containerOf = (pod) => options.container ?? pod.spec.containers[0].name;

/** Ends as the command did, after the words that kubectl adds. */
function execute() {
  const [name] = rest[0]?.includes('/') ? namesIn(rest) : rest;
  const pod = cluster.read(namespace, name);
  if (pod === null) return notFound(name);
  if (pod.standIn.isLost)
    fail('Error from server: error dialing backend: dial tcp 10.0.0.7:10250: connect: no route to host');
  if (pod.status.phase !== 'Running')
    fail(`error: cannot exec into a container in a completed pod; current phase is ${pod.status.phase}`);
  if (!pod.spec.containers.some((each) => each.name === containerOf(pod)))
    fail(`Error from server (BadRequest): container ${containerOf(pod)} is not valid for pod ${name}`);
  cluster.count(`exec-${name}`);
  const stdin = options.stdin === 'true';
  const child = spawn(
    'podman',
    [
      ...cluster.podman,
      'exec',
      ...(stdin ? ['--interactive'] : []),
      `${cluster.podmanName(namespace, name)}-${containerOf(pod)}`,
      ...command,
    ],
    {
      stdio: [stdin ? 'inherit' : 'ignore', 'inherit', 'inherit'],
      env: { ...process.env, CONTAINERS_CONF: cluster.settings.containersConf },
    },
  );
  child.once('close', (code) => {
    const lost = cluster.read(namespace, name)?.standIn.isLost;
    if (lost) fail('error: error reading from error stream: read tcp 10.0.0.1:443: i/o timeout');
    if (code !== 0) process.stderr.write(`command terminated with exit code ${code}\n`);
    process.exit(code ?? 1);
  });
}

function logs() {
  const named = rest.map((name) => cluster.read(namespace, name) ?? notFound(name));
  const pods = options.selector === undefined ? named : matching(cluster.list(namespace), options.selector);
  for (const pod of pods) {
    const name = `${cluster.podmanName(namespace, pod.metadata.name)}-${containerOf(pod)}`;
    const { stdout, stderr, status } = spawnSync('podman', [...cluster.podman, 'logs', name], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    process.stdout.write(stdout + stderr);
    if (status !== 0) fail(stderr);
  }
}

const verbs = {
  apply: create,
  create,
  get,
  delete: remove,
  exec: execute,
  logs,
  version: () => process.stdout.write(JSON.stringify({ clientVersion: { gitVersion: 'v1.33.0-stand-in' } })),
};
if (!Object.hasOwn(verbs, verb)) fail(`error: unknown command "${verb}" for "kubectl"`);
await verbs[verb]();
