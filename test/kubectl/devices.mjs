// What schedulers, device plugins and webhooks of a cluster add to a pod: a node, a card, and the limits of a layer.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const GPU = 'nvidia.com/gpu';
const SHARED = 'nvidia.com/gpu.shared';

const limitsOf = (container) => container.resources?.limits ?? {};
const gpusOf = (pod) =>
  pod.spec.containers.reduce((sum, each) => sum + Number(limitsOf(each)[GPU] ?? limitsOf(each)[SHARED] ?? 0), 0);

const isOver = (pod) => ['Succeeded', 'Failed'].includes(pod.status.phase);

/** The nodes that a pod may be on, by nodeSelector and by affinity to the name of a node. */
function allowed(pod, nodes) {
  const { nodeSelector = {}, affinity = {} } = pod.spec;
  const terms = affinity.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const matches = ({ matchFields = [], matchExpressions = [] }, node) =>
    [...matchFields, ...matchExpressions].every(
      ({ key, operator, values }) =>
        ['metadata.name', 'kubernetes.io/hostname'].includes(key) &&
        ['In', 'NotIn'].includes(operator) &&
        values.includes(node.name) === (operator === 'In'),
    );
  return nodes.filter(
    (node) =>
      Object.entries(nodeSelector).every(([key, value]) => key === 'kubernetes.io/hostname' && value === node.name) &&
      (terms.length === 0 || terms.some((term) => matches(term, node))),
  );
}

/** Whether a pod on that node must not be beside this one; what has ended is in nobody's way. */
function isApart(pod, running, node) {
  const terms = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const others = running.filter(
    (other) => !isOver(other) && other.spec.nodeName === node.name && other.metadata.uid !== pod.metadata.uid,
  );
  return terms.some(({ labelSelector: { matchLabels } }) =>
    others.some(({ metadata: { labels = {} } }) =>
      Object.entries(matchLabels).every(([key, value]) => labels[key] === value),
    ),
  );
}

/** A node with as many free cards as the pod wants, or why there is none. */
export function placeOf(cluster, pod, isOther) {
  const wanted = gpusOf(pod);
  const { replicas = 1 } = cluster.settings;
  const running = cluster.namespaces.flatMap((namespace) => cluster.list(namespace));
  const nodes = allowed(pod, cluster.settings.nodes).filter((node) => !isApart(pod, running, node));
  for (const node of nodes) {
    const used = (uuid) => running.filter((each) => !isOver(each) && (each.standIn?.gpus ?? []).includes(uuid)).length;
    const free = node.gpus.filter((uuid) => used(uuid) < replicas);
    const chosen = (isOther ? [...free].reverse() : free).slice(0, wanted);
    if (chosen.length === wanted) return { node: node.name, gpus: chosen };
  }
  const all = cluster.settings.nodes.length;
  const why = nodes.length === 0 ? "didn't match Pod's node affinity/selector" : `Insufficient ${GPU}`;
  return { why: `0/${all} nodes are available: ${all} ${why}.` };
}

/** The pod as the kubelet runs it: with what the device plugin and HAMi's webhook inject. Other resources mean nothing to podman. */
export function injected(cluster, pod, { gpus, node }) {
  const { layer } = cluster.settings;
  const spec = JSON.parse(JSON.stringify(pod.spec));
  // The stand-in has no network of its own for pods.
  spec.hostNetwork = true;
  delete spec.securityContext;
  delete spec.affinity;
  for (const container of spec.containers) {
    const limits = limitsOf(container);
    container.resources = Object.fromEntries(
      Object.entries(container.resources ?? {}).map(([kind, values]) => [
        kind,
        Object.fromEntries(Object.entries(values).filter(([name]) => cluster.settings.enforces?.includes(name))),
      ]),
    );
    const add = (name, value) => (container.env ??= []).push({ name, value });
    if (gpus.length > 0) {
      add('NVIDIA_VISIBLE_DEVICES', gpus.join(','));
      // The simulated driver has no device nodes; this is how it shows some cards.
      add('CUDA_VISIBLE_DEVICES', gpus.join(','));
    }
    const memory = limits['nvidia.com/gpumem'];
    for (const variable of container.env ?? []) {
      if (variable.valueFrom?.fieldRef?.fieldPath !== 'spec.nodeName') continue;
      delete variable.valueFrom;
      variable.value = node;
    }
    // The API has taken it; podman 4.3 cannot be told all of it.
    delete container.securityContext;
    withFiles(cluster, pod, { spec, container });
    withMps(cluster, pod, { spec, container, add });
    if (memory !== undefined && layer)
      withLayer(
        cluster,
        { spec, container, add },
        cluster.settings.tells === false ? undefined : memory,
        limits['nvidia.com/gpucores'],
      );
  }
  return spec;
}

/** Volumes as paths of this machine, and what every pod of the test gets. */
function withFiles(cluster, pod, { spec, container }) {
  const { namespace, name } = pod.metadata;
  const { everywhere = [] } = cluster.settings;
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  container.volumeMounts = (container.volumeMounts ?? []).filter(({ mountPath }) => mountPath !== '/dev/shm');
  for (const mount of container.volumeMounts) {
    const volume = volumes.get(mount.name);
    if (volume?.configMap) {
      volume.hostPath = { path: join(cluster.mapFolder(namespace, volume.configMap.name), mount.subPath) };
      delete mount.subPath;
      delete volume.configMap;
    } else if (volume?.emptyDir) {
      volume.hostPath = { path: join(cluster.folder, 'empty', name, mount.name) };
      mkdirSync(volume.hostPath.path, { recursive: true });
      delete volume.emptyDir;
    }
  }
  for (const [index, { from, to }] of everywhere.entries()) {
    volumes.set(`everywhere-${index}`, { name: `everywhere-${index}`, hostPath: { path: from } });
    container.volumeMounts.push({ name: `everywhere-${index}`, mountPath: to, readOnly: true });
  }
  const used = container.volumeMounts.map((mount) => mount.name);
  spec.volumes = [...volumes.values()].filter((volume) => used.includes(volume.name));
}

/** The pipe of a daemon, with its defaults in files that the simulated driver reads. */
function withMps(cluster, pod, { spec, container, add }) {
  const { name } = pod.metadata;
  const [, defaults] =
    Object.entries(cluster.settings.mps ?? {}).find(([system]) => name.includes(`-${system}-`)) ?? [];
  if (defaults === undefined) return;
  const [pipe, inside] = [join(cluster.folder, 'mps', name), '/mps/nvidia.com/gpu/pipe'];
  mkdirSync(pipe, { recursive: true });
  writeFileSync(join(pipe, 'control'), '');
  if (defaults.threads !== undefined) writeFileSync(join(pipe, 'active_thread_percentage'), `${defaults.threads}`);
  if (defaults.memory !== undefined) writeFileSync(join(pipe, 'device_pinned_mem_limit'), defaults.memory);
  add('CUDA_MPS_PIPE_DIRECTORY', inside);
  spec.volumes.push({ name: 'standin-mps', hostPath: { path: pipe } });
  container.volumeMounts.push({ name: 'standin-mps', mountPath: inside, readOnly: true });
}

function withLayer(cluster, { spec, container, add }, memory, cores) {
  const { layer } = cluster.settings;
  const folder = join(cluster.folder, 'layer');
  mkdirSync(folder, { recursive: true });
  const preload = join(folder, 'ld.so.preload');
  writeFileSync(preload, `${layer}\n`);
  if (memory !== undefined) add('CUDA_DEVICE_MEMORY_LIMIT_0', `${memory}m`);
  if (cores !== undefined) add('CUDA_DEVICE_SM_LIMIT', String(cores));
  add('GVB_INTERPOSE', memory === undefined ? 'cuLaunchKernel=+0us' : `quota=${memory}MiB,pool=/tmp/gvb-pool`);
  spec.volumes = [
    ...(spec.volumes ?? []),
    { name: 'standin-layer', hostPath: { path: layer } },
    { name: 'standin-preload', hostPath: { path: preload } },
  ];
  container.volumeMounts = [
    ...(container.volumeMounts ?? []),
    { name: 'standin-layer', mountPath: layer, readOnly: true },
    { name: 'standin-preload', mountPath: '/etc/ld.so.preload', readOnly: true },
  ];
}
