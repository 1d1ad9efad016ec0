// Runs one pod of the stand-in cluster, from its creation until it is deleted. Arguments: cluster.json, namespace, name.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { injected, placeOf } from './devices.mjs';
import { Cluster } from './state.mjs';

const [config, namespace, name] = process.argv.slice(2);
const cluster = new Cluster(config);
const own = cluster.podmanName(namespace, name);
const LOOK_MS = 50;

function podman(args, input) {
  const { status, stdout, stderr } = spawnSync('podman', [...cluster.podman, ...args], {
    encoding: 'utf8',
    input: input ?? '',
  });
  return { ok: status === 0, stdout, stderr };
}

/** Podman's id of the pod, once it was played. */
let playedId = null;

const hasProcesses = (id) =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .some((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(id);
      } catch {
        return false;
      }
    });

/**
 * Ends the containers and waits for what podman itself starts then: it would else wait for the lock that `pod rm` holds, and
 * `pod rm` 3 s for its end.
 */
async function removePod() {
  if (playedId !== null) {
    podman(['pod', 'kill', '--signal=KILL', own]);
    for (let looks = 0; looks < 100 && hasProcesses(playedId); looks++) await sleep(20);
  }
  podman(['pod', 'rm', '--force', '--time=0', own]);
}

const fault = (kind) => cluster.faultOf(kind, { pod: name });
const now = () => new Date().toISOString();
const change = (edit) => cluster.change(namespace, name, edit);
const setStatus = (status) => change((pod) => Object.assign(pod.status, status));
const isWanted = () => {
  const pod = cluster.read(namespace, name);
  return pod !== null && pod.metadata.deletionTimestamp === undefined;
};
const untilUnwanted = async () => {
  while (isWanted()) await sleep(LOOK_MS);
};

const statusesOf = (pod, state, ready) =>
  pod.spec.containers.map((container) => ({
    name: container.name,
    image: container.image,
    imageID: 'localhost/stand-in@sha256:0123',
    restartCount: 0,
    ready,
    state,
  }));

const condition = (type, status, more = {}) => ({ type, status, lastTransitionTime: now(), ...more });

async function scheduled(pod) {
  for (;;) {
    const found = await cluster.alone(() => {
      if (fault('pending')) return { why: '0/1 nodes are available: 1 Insufficient nvidia.com/gpu.' };
      const place = placeOf(cluster, pod, fault('other-gpu') !== undefined);
      if (place.why === undefined)
        change((each) => {
          each.spec.nodeName = place.node;
          each.standIn = { ...each.standIn, gpus: place.gpus };
        });
      return place;
    });
    if (found.why === undefined) return found;
    setStatus({
      conditions: [condition('PodScheduled', 'False', { reason: 'Unschedulable', message: found.why })],
    });
    await sleep(4 * LOOK_MS);
    if (!isWanted()) return null;
  }
}

const imageOf = (pod) =>
  pod.spec.containers.map(({ image }) => image).find((image) => !podman(['image', 'exists', image]).ok);

/** Waits for what is mounted of ConfigMaps; false if the pod is deleted first. */
async function mapsAreThere({ spec: { volumes = [] } }) {
  const maps = volumes.flatMap(({ configMap }) => (configMap ? [configMap.name] : []));
  while (maps.some((map) => !existsSync(cluster.mapFolder(namespace, map)))) {
    await sleep(LOOK_MS);
    if (!isWanted()) return false;
  }
  return true;
}

async function run() {
  const pod = cluster.read(namespace, name);
  const found = await scheduled(pod);
  if (found === null) return;
  const missing = imageOf(pod);
  if (missing !== undefined) {
    const message = `Failed to pull image "${missing}": not found`;
    setStatus({ containerStatuses: statusesOf(pod, { waiting: { reason: 'ErrImagePull', message } }, false) });
    await sleep(LOOK_MS);
    setStatus({
      containerStatuses: statusesOf(
        pod,
        { waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${missing}"` } },
        false,
      ),
    });
    return untilUnwanted();
  }
  if (!(await mapsAreThere(pod))) return;
  const spec = injected(cluster, pod, found);
  const played = podman(
    ['kube', 'play', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: own, labels: pod.metadata.labels }, spec }),
  );
  [, playedId = null] = /^Pod:\s+([0-9a-f]{64})$/m.exec(played.stdout) ?? [];
  if (!played.ok) {
    setStatus({
      containerStatuses: statusesOf(
        pod,
        { waiting: { reason: 'CreateContainerError', message: played.stderr.trim() } },
        false,
      ),
    });
    return untilUnwanted();
  }
  setStatus({
    phase: 'Running',
    startTime: now(),
    conditions: [condition('PodScheduled', 'True'), condition('Ready', 'True')],
    containerStatuses: statusesOf(pod, { running: { startedAt: now() } }, true),
  });
  await untilOver(pod);
}

const failed = (reason, message) =>
  setStatus({ phase: 'Failed', reason, message, conditions: [condition('Ready', 'False')] });

/** Ends the containers with what else the fault means. */
async function untilOver(pod) {
  const container = `${own}-${pod.spec.containers[0].name}`;
  const waiting = spawn('podman', [...cluster.podman, 'wait', container], { stdio: ['ignore', 'pipe', 'ignore'] });
  let code = null;
  waiting.stdout.on('data', (chunk) => (code = Number(String(chunk).trim())));
  const over = new Promise((resolve) => waiting.once('close', () => resolve('ended')));
  const after = (ms, what) => sleep(ms).then(() => what);
  const { activeDeadlineSeconds: deadline } = pod.spec;
  /** Once so many commands were started in it, and that time has passed. */
  const begun = async ({ afterExecs = 0, afterMs = 0 }, kind) => {
    while (cluster.counted(`exec-${name}`) < afterExecs) await sleep(LOOK_MS);
    return after(afterMs, kind);
  };
  const faults = ['evicted', 'oom', 'node-lost'].flatMap((kind) => {
    const found = fault(kind);
    return found ? [begun(found, kind)] : [];
  });
  const what = await Promise.race([
    over,
    untilUnwanted().then(() => 'unwanted'),
    ...(deadline === undefined ? [] : [after(1000 * deadline, 'deadline')]),
    ...faults,
  ]);
  if (what === 'unwanted') return;
  if (what === 'deadline') {
    await removePod();
    failed('DeadlineExceeded', 'Pod was active on the node longer than the specified deadline');
  } else if (what === 'evicted') {
    await removePod();
    failed('Evicted', 'The node was low on resource: memory.');
  } else if (what === 'oom') {
    podman(['kill', '--signal=KILL', container]);
    const terminated = { exitCode: 137, reason: 'OOMKilled', startedAt: now(), finishedAt: now() };
    setStatus({ phase: 'Failed', containerStatuses: statusesOf(pod, { terminated }, false) });
  } else if (what === 'node-lost') {
    change((each) => (each.standIn = { ...each.standIn, isLost: true }));
    await removePod();
    setStatus({
      reason: 'NodeLost',
      message: `Node ${cluster.read(namespace, name)?.spec.nodeName} which was running pod is unresponsive`,
      conditions: [condition('Ready', 'False', { reason: 'NodeLost' })],
    });
  } else {
    const terminated = { exitCode: code ?? 1, reason: code === 0 ? 'Completed' : 'Error', finishedAt: now() };
    setStatus({
      phase: code === 0 ? 'Succeeded' : 'Failed',
      containerStatuses: statusesOf(pod, { terminated }, false),
    });
  }
  await untilUnwanted();
}

try {
  await run();
  await untilUnwanted();
} finally {
  await removePod();
  cluster.remove(namespace, name);
}
process.exit(0);
