// The state of the stand-in cluster: a folder with cluster.json and one file per pod. KUBECONFIG is the path of cluster.json, so a
// client that passes it on, as it must, reaches the same cluster.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export class Cluster {
  constructor(config) {
    this.folder = dirname(config);
    this.settings = JSON.parse(readFileSync(config, 'utf8'));
  }

  /** Arguments of podman before the subcommand. */
  get podman() {
    return this.settings.podman;
  }

  fileOf(namespace, name) {
    return join(this.folder, 'pods', namespace, `${name}.json`);
  }

  read(namespace, name) {
    const text = textOf(this.fileOf(namespace, name));
    if (text === null) return null;
    const pod = JSON.parse(text);
    const deletionTimestamp = textOf(this.#deletionOf(namespace, name));
    return deletionTimestamp === null ? pod : { ...pod, metadata: { ...pod.metadata, deletionTimestamp } };
  }

  /** A file of its own: only the kubelet changes the pod. */
  #deletionOf(namespace, name) {
    return `${this.fileOf(namespace, name)}.deleted`;
  }

  markDeleted(namespace, name) {
    writeFileSync(this.#deletionOf(namespace, name), new Date().toISOString());
  }

  write(pod) {
    const file = this.fileOf(pod.metadata.namespace, pod.metadata.name);
    mkdirSync(dirname(file), { recursive: true });
    const aside = `${file}.${process.pid}`;
    writeFileSync(aside, JSON.stringify(pod));
    renameSync(aside, file);
  }

  /** For its kubelet alone. Does nothing if the pod is gone. */
  change(namespace, name, change) {
    const pod = this.read(namespace, name);
    if (pod === null) return null;
    change(pod);
    this.write(pod);
    return pod;
  }

  remove(namespace, name) {
    for (const file of [this.fileOf(namespace, name), this.#deletionOf(namespace, name)]) rmSync(file, { force: true });
  }

  /** Folder with the values of a ConfigMap as files. */
  mapFolder(namespace, name) {
    return join(this.folder, 'maps', namespace, name);
  }

  keepMap(namespace, { metadata: { name }, data }) {
    const folder = this.mapFolder(namespace, name);
    mkdirSync(folder, { recursive: true });
    for (const [key, value] of Object.entries(data)) writeFileSync(join(folder, key), value);
  }

  list(namespace) {
    const folder = join(this.folder, 'pods', namespace);
    if (!existsSync(folder)) return [];
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return names.map((name) => this.read(namespace, name.slice(0, -'.json'.length))).filter(Boolean);
  }

  /** A Job as it was applied; how it is follows from its pods. */
  #jobFile(namespace, name) {
    return join(this.folder, 'jobs', namespace, `${name}.json`);
  }

  keepJob(namespace, job) {
    const file = this.#jobFile(namespace, job.metadata.name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(job));
  }

  job(namespace, name) {
    const text = textOf(this.#jobFile(namespace, name));
    return text === null ? null : JSON.parse(text);
  }

  jobs(namespace) {
    const folder = join(this.folder, 'jobs', namespace);
    if (!existsSync(folder)) return [];
    return readdirSync(folder).map((name) => this.job(namespace, name.slice(0, -'.json'.length)));
  }

  removeMap(namespace, name) {
    rmSync(this.mapFolder(namespace, name), { recursive: true, force: true });
  }

  removeJob(namespace, name) {
    rmSync(this.#jobFile(namespace, name), { force: true });
    this.removeMap(namespace, name);
  }

  get namespaces() {
    return this.settings.namespaces ?? ['default'];
  }

  /** Counts up and returns the new count, also for several processes at once. */
  count(what) {
    const folder = join(this.folder, 'counts', what);
    mkdirSync(folder, { recursive: true });
    for (let n = 1; ; n++)
      try {
        mkdirSync(join(folder, String(n)));
        return n;
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      }
  }

  /** One pod at a time is given a node, as by one scheduler. `task` is synchronous. */
  async alone(task) {
    const lock = join(this.folder, 'scheduling');
    for (;;)
      try {
        mkdirSync(lock);
        break;
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
        await sleep(5);
      }
    try {
      return task();
    } finally {
      rmdirSync(lock);
    }
  }

  counted(what) {
    const folder = join(this.folder, 'counts', what);
    return existsSync(folder) ? readdirSync(folder).length : 0;
  }

  /** The fault of a kind that befalls a pod, or with `verb` the nth call about it. `nth` of a pod counts those of its system. */
  faultOf(kind, { pod, nth = numberOf(pod), verb }) {
    return (this.settings.faults ?? []).find(
      (fault) =>
        fault.kind === kind &&
        fault.verb === verb &&
        (fault.pod === undefined || pod.includes(`-${fault.pod}-`)) &&
        (fault.nth === undefined || [fault.nth].flat().includes(nth)),
    );
  }

  /** The name that podman knows a pod by. */
  podmanName(namespace, name) {
    return `${namespace}--${name}`;
  }
}

/** Names that gpu-virt-bench gives to pods of systems end in their number. */
const numberOf = (pod) => Number(/-(\d+)$/.exec(pod)?.[1]);

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}
