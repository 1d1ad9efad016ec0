/** A cluster of the stand-in kubectl: an image, cards of the simulated GPU, and faults. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { emptyFolder, root } from '../cli/command.js';
import { makeRoot } from '../cli/containers.js';

export interface Fault {
  kind: 'pending' | 'evicted' | 'oom' | 'node-lost' | 'other-gpu' | 'api-timeout' | 'forbidden' | 'lost-answer';
  /** The system whose pods have it. Default: every one's. */
  pod?: string;
  /** Which of these pods, or which calls of `verb` about one of them, from 1. Default: every one. */
  nth?: number | number[];
  verb?: string;
  /** Happens once so many commands were started in the pod. */
  afterExecs?: number;
  afterMs?: number;
}

interface Options {
  faults?: Fault[];
  /** UUIDs of the cards of the first node, `node-1`. */
  gpus: readonly string[];
  /** Those of further nodes. */
  further?: readonly (readonly string[])[];
  /** Pods that may share a card. */
  replicas?: number;
  /** The library that HAMi's plugin preloads; without it nothing enforces what a pod asks for. */
  layer?: string | undefined;
  /** Whether the plugin tells the layer its memory limit. Default: it does. */
  tells?: false;
  /** Defaults of the daemon of MPS whose clients the pods of a system are, as it was told them. */
  mps?: Readonly<Record<string, { threads?: number; memory?: string }>>;
  namespaces?: string[];
  /** Paths that every container has, read-only. */
  everywhere?: { from: string; to: string }[];
}

/** What clusters of a test file share: the storage of podman with one image. */
export class PodmanHost {
  static readonly IMAGE = 'localhost/gvb-pods:1';
  readonly folder = emptyFolder();
  readonly podman = [
    ...['root', 'runroot', 'tmpdir'].map((name) => `--${name}=${join(this.folder, name)}`),
    ...['--storage-driver=vfs', '--cgroup-manager=cgroupfs', '--runtime=runc', '--events-backend=none'],
  ];
  readonly containersConf = join(this.folder, 'containers.conf');

  constructor() {
    const rootfs = join(this.folder, 'rootfs');
    makeRoot(rootfs);
    const archive = join(this.folder, 'image.tar');
    execFileSync('tar', ['-C', rootfs, '-cf', archive, '.']);
    // The pause container of a pod, which podman would else build.
    const idle = 'ENTRYPOINT ["/bin/busybox","sleep","2147483"]';
    const changes = ['--change', idle, '--change', 'ENV PATH=/bin'];
    execFileSync('podman', [...this.podman, 'import', '--quiet', ...changes, archive, PodmanHost.IMAGE]);
    // This machine's cgroups may be of both versions, which crun refuses, and it may let nobody raise a limit.
    const lines = [
      '[containers]',
      'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]',
      '[engine]',
      `infra_image = "${PodmanHost.IMAGE}"`,
    ];
    writeFileSync(this.containersConf, `${lines.join('\n')}\n`);
  }

  /** Names of the containers that are there. */
  containers(): string[] {
    const text = execFileSync('podman', [...this.podman, 'ps', '--all', '--format={{.Names}}'], { encoding: 'utf8' });
    return text.split('\n').filter(Boolean);
  }

  remove(): void {
    execFileSync('podman', [...this.podman, 'pod', 'rm', '--all', '--force', '--time=0']);
    execFileSync('podman', [...this.podman, 'rmi', '--all', '--force']);
  }
}

export class TestCluster {
  readonly folder = emptyFolder();
  readonly config = join(this.folder, 'cluster.json');
  readonly kubectl = join(this.folder, 'kubectl');

  constructor(host: PodmanHost, { gpus, further = [], namespaces = ['default', 'bench'], ...more }: Options) {
    const { podman, containersConf } = host;
    const nodes = [gpus, ...further].map((own, index) => ({ name: `node-${index + 1}`, gpus: own }));
    const settings = { podman, containersConf, nodes, namespaces, contexts: ['stand-in'], ...more };
    writeFileSync(this.config, JSON.stringify(settings));
    writeFileSync(
      this.kubectl,
      `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'test/kubectl/kubectl.mjs')}" "$@"\n`,
    );
    chmodSync(this.kubectl, 0o755);
  }

  /** Environment in which `kubectl` is this one's. */
  get environment(): Record<string, string> {
    return { KUBECONFIG: this.config, PATH: `${this.folder}:${process.env.PATH ?? ''}` };
  }

  /** Writes a template with these changes; the files of the package are mounted, as in no real cluster. */
  template(name: string, change: { spec?: object; container?: object; metadata?: object } = {}): string {
    const same = (path: string) => ({ path, name: path === root ? 'package' : 'node' });
    const files = [same(root), same(process.execPath)];
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { labels: { app: 'bench' }, ...change.metadata },
      spec: {
        // A simulated card is shared memory.
        hostIPC: true,
        hostPID: true,
        containers: [
          {
            name: 'bench',
            image: PodmanHost.IMAGE,
            imagePullPolicy: 'Never',
            resources: { limits: { 'nvidia.com/gpu': 1 } },
            volumeMounts: files.map((file) => ({ name: file.name, mountPath: file.path, readOnly: true })),
            ...change.container,
          },
        ],
        volumes: files.map((file) => ({ name: file.name, hostPath: { path: file.path } })),
        ...change.spec,
      },
    };
    const file = join(this.folder, `${name}.yaml`);
    writeFileSync(file, stringify(pod));
    return file;
  }

  /** Names of pods that the API knows. */
  pods(): string[] {
    const folder = join(this.folder, 'pods');
    if (!existsSync(folder)) return [];
    const files = readdirSync(folder, { recursive: true }) as string[];
    return files.filter((file) => file.endsWith('.json'));
  }

  /** Phases of all pods. */
  phases(): string[] {
    const read = (file: string) => readFileSync(join(this.folder, 'pods', file), 'utf8');
    return this.pods().map((file) => (JSON.parse(read(file)) as { status: { phase: string } }).status.phase);
  }

  /** PIDs of processes that reach this cluster, but what stands in for kubelets. */
  clients(): string[] {
    return readdirSync('/proc').filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8');
        return (
          read('environ').includes(`KUBECONFIG=${this.config}\0`) && !/kubelet|podman|conmon/.test(read('cmdline'))
        );
      } catch {
        return false;
      }
    });
  }

  /** Names of all pods that were ever created, as podman knows them. */
  created(): string[] {
    const file = join(this.folder, 'created');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** The arguments of every call. */
  calls(): string[][] {
    if (!existsSync(join(this.folder, 'calls'))) return [];
    const lines = readFileSync(join(this.folder, 'calls'), 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as string[]);
  }

  /** Ends what stands in for kubelets; the PID of one that has ended may be another process's by now. */
  stop(): void {
    const folder = join(this.folder, 'kubelets');
    if (!existsSync(folder)) return;
    for (const pid of readdirSync(folder))
      try {
        if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(this.config)) process.kill(Number(pid), 'SIGKILL');
      } catch {
        // Most have ended with their pod.
      }
  }
}
