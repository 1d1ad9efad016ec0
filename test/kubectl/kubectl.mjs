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
import { parseAllDocuments } from 'yaml';
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

const call = cluster.count(`verb-${verb}`);
if (cluster.faultOf('api-timeout', call, verb)) {
  await sleep(50);
  fail(
    'Unable to connect to the server: net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)',
  );
}
if (cluster.faultOf('forbidden', call, verb))
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
  const { Pod } = await import('kubernetes-models/v1/Pod');
  if (object?.kind !== 'Pod' || object.apiVersion !== 'v1')
    return `resource mapping not found: no matches for kind "${object?.kind}" in version "${object?.apiVersion}"`;
  const { name } = object.metadata ?? {};
  if (typeof name !== 'string' || !NAME.test(name) || name.length > 253)
    return `The Pod "${name}" is invalid: metadata.name: Invalid value: "${name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'`;
  try {
    new Pod(object).validate();
    return null;
  } catch (error) {
    return `The Pod "${name}" is invalid: ${error.message}`;
  }
}

async function create() {
  if (options.filename !== '-') fail('error: the stand-in reads -f - alone');
  const [document, ...others] = parseAllDocuments(readFileSync(0, 'utf8')).map((each) => each.toJS());
  if (others.length > 0) fail('error: the stand-in takes one object');
  const wrong = await problemsOf(document);
  if (wrong !== null) fail(`Error from server (BadRequest): error when creating "STDIN": ${wrong}`);
  if (
    document.metadata.namespace !== undefined &&
    options.namespace !== undefined &&
    document.metadata.namespace !== namespace
  )
    fail(
      `error: the namespace from the provided object "${document.metadata.namespace}" does not match the namespace "${namespace}". You must pass '--namespace=${document.metadata.namespace}' to perform this operation.`,
    );
  const own = document.metadata.namespace ?? namespace;
  if (!cluster.namespaces.includes(own))
    fail(`Error from server (NotFound): error when creating "STDIN": namespaces "${own}" not found`);
  const { name } = document.metadata;
  if (cluster.read(own, name) !== null) {
    if (verb === 'apply') return process.stdout.write(`pod/${name} unchanged\n`);
    fail(`Error from server (AlreadyExists): error when creating "STDIN": pods "${name}" already exists`);
  }
  const nth = cluster.count('pods');
  const pod = {
    ...document,
    metadata: { ...document.metadata, namespace: own, uid: randomUUID(), creationTimestamp: new Date().toISOString() },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
    standIn: {},
  };
  cluster.write(pod);
  const kubelet = spawn(
    process.execPath,
    [fileURLToPath(new URL('kubelet.mjs', import.meta.url)), process.env.KUBECONFIG, own, name, String(nth)],
    { detached: true, stdio: 'ignore', env: { ...process.env, CONTAINERS_CONF: cluster.settings.containersConf } },
  );
  kubelet.unref();
  mkdirSync(join(cluster.folder, 'kubelets'), { recursive: true });
  writeFileSync(join(cluster.folder, 'kubelets', String(kubelet.pid)), '');
  if (cluster.faultOf('lost-answer', nth)) fail('Unable to connect to the server: net/http: TLS handshake timeout');
  process.stdout.write(options.output === 'json' ? JSON.stringify(shown(pod)) : `pod/${name} created\n`);
}

function get() {
  const names = namesIn(rest);
  if (options.output !== 'json') fail('error: the stand-in prints json alone');
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

async function remove() {
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
  const [name] = rest;
  const pod = cluster.read(namespace, name);
  if (pod === null) return notFound(name);
  const { stdout, stderr, status } = spawnSync(
    'podman',
    [...cluster.podman, 'logs', `${cluster.podmanName(namespace, name)}-${containerOf(pod)}`],
    { encoding: 'utf8' },
  );
  process.stdout.write(stdout);
  if (status !== 0) fail(stderr);
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
