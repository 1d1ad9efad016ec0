/** Settings as a program gives them. Generated from the schemas of settings by npm run build:ts. */

/** the bare driver */
export interface NativeSettings {
  kind: 'native';
  /** Name of the system in documents. Default: native. */
  name?: string;
  /** A result of compare, whose rounds of native stand for these, as where every card is in MIG mode now. Default: native is measured. */
  recorded?: string;
}

/** containers, with a layer inside */
export interface ContainerSettings {
  kind: 'container';
  /** Name of the system in documents. Default: container. */
  name?: string;
  /** `docker`, `podman`, `nerdctl`, `runc` or `crun`, or the absolute path of one. */
  runtime: string;
  /** Image for docker, podman and nerdctl; it must be there, nothing is pulled. */
  image?: string;
  /** Absolute path of an OCI bundle for runc and crun, with `rootfs/` and, if it needs one, `config.json`, whose command, environment and namespaces are replaced. */
  bundle?: string;
  /** `cdi`: the CDI device of the measured GPU, or the one that `device` names. `hook`: the hook or runtime of the NVIDIA container toolkit. `devices`: the device nodes in the list `devices`; the image must then hold the driver's libraries. Default: cdi, and none on the simulated card. */
  gpu?: 'cdi' | 'hook' | 'devices' | 'none';
  /** The CDI device, such as `nvidia.com/gpu=0`. Default: that of the measured GPU. */
  device?: string;
  /** Device nodes, such as `/dev/nvidia0`, for `gpu: devices`. */
  devices?: readonly SettingScalar[];
  /** `/outside`, `/outside:/inside` or `/outside:/inside:rw`; read-only unless `rw`. */
  mounts?: readonly SettingScalar[];
  /** The namespace of PIDs. `host`: NVML's PIDs are those of the processes, and signals reach programs as they do natively. Default: host. */
  pid?: 'host' | 'private';
  /** The namespace of IPC. `host`: CUDA IPC works between containers. Default: host. */
  ipc?: 'host' | 'private';
  /** The network. `host`: a server is reached at its port. Default: host. */
  network?: 'host' | 'none';
  /** Further options of `run`, e.g. `[--cpus=4, --shm-size=8g, --user=1000]`. */
  args?: readonly SettingScalar[];
  /** Options before the subcommand, in every call, e.g. `[--cgroup-manager=cgroupfs]`. */
  runtimeOptions?: readonly SettingScalar[];
  /** The system inside, with its settings: `kind: native`, `hami-core`, `mig`, `mps`, `custom` and others; on the command line `layer.kind=…,layer.library=…`. Default: native. */
  layer?: {
    kind?: string;
  } & Readonly<Record<string, unknown>>;
}

/** BUD-FCSP, by the variables in its documents */
export interface FcspSettings {
  kind: 'fcsp';
  /** Name of the system in documents. Default: fcsp. */
  name?: string;
  /** The library of the layer, which has no usual place. Without one the system is unavailable. */
  library?: string;
  /** Memory limit of all processes of a tenant together. Default: none. */
  memory?: string;
  /** Percentage of GPU time, 1 to 100. Default: none. */
  sm?: number;
  /** A sub-profile of its documents, which the settings below override. Default: none. */
  preset?: 'inference' | 'fair' | 'strict' | 'low-latency' | 'llm-uvm';
  /** The variable BUD_ISOLATION_MODE. */
  mode?: 'none' | 'balanced' | 'strict' | 'adaptive';
  /** The variable BUD_MEMORY_LIMIT_MODE. */
  memoryMode?: 'hard' | 'soft';
  /** The variable BUD_TENANT_FLOOR_PCT. */
  tenantFloor?: number;
  /** The variable BUD_SHARED_POOL_PCT. */
  sharedPool?: number;
  /** The variable BUD_BURST_MAX_PCT. */
  burstMax?: number;
  /** The variable BUD_ADAPTIVE_SM_MAX_BURST_PCT. */
  adaptiveMaxBurst?: number;
  /** The variable BUD_COOPERATIVE_MODE. */
  cooperative?: boolean;
  /** The variable BUD_USE_PID_CONTROLLER. */
  pidController?: boolean;
  /** The variable BUD_OBSERVER_INTERVAL_US. */
  observerIntervalUs?: number;
  /** The variable BUD_FAST_PATH_ENABLED. */
  fastPath?: boolean;
  /** The variable BUD_ENABLE_METRICS. */
  metrics?: boolean;
  /** The variable BUD_LOG_LEVEL. */
  logLevel?: string;
  /** The variable BUD_UVM_ENABLED. */
  uvm?: boolean;
  /** The variable BUD_UVM_PROFILE. */
  uvmProfile?: string;
  /** The variable BUD_UVM_PRESSURE_WARNING_PCT. */
  uvmPressureWarning?: number;
  /** The variable BUD_UVM_PRESSURE_HIGH_PCT. */
  uvmPressureHigh?: number;
  /** The variable BUD_UVM_PRESSURE_CRITICAL_PCT. */
  uvmPressureCritical?: number;
  /** The variable BUD_PREFETCH_ENABLED. */
  prefetch?: boolean;
  /** The variable BUD_PREFETCH_MAX_SIZE_MB. */
  prefetchMaxSizeMb?: number;
  /** The variable BUD_STREAM_CLASS_NCCL. */
  ncclStreamClass?: string;
  /** Further variables, which override those of the settings. */
  env?: Readonly<Record<string, SettingScalar>>;
  /** Files of the layer: must not exist before a tenant, are deleted after it. Default: what is seen to appear. */
  stateFiles?: readonly SettingScalar[];
}

/** the bare driver, with each process on a part of the multiprocessors */
export interface GreenContextSettings {
  kind: 'green-context';
  /** Name of the system in documents. Default: green-context. */
  name?: string;
  /** Percentage of the multiprocessors, 1 to 100, rounded down to what the driver can set apart. 100: no green context. */
  sm: number;
}

/** HAMi-core, one preloaded library */
export interface HamiCoreSettings {
  kind: 'hami-core';
  /** Name of the system in documents. Default: hami-core. */
  name?: string;
  /** HAMi-core's library. Default: /usr/local/vgpu/libvgpu.so. */
  library?: string;
  /** Memory limit of all processes of a tenant together. Default: the card's memory. */
  memory?: string;
  /** Percentage of GPU time, 1 to 100. Default: 100. */
  sm?: number;
  /** When the limit of GPU time holds. Default: force. */
  policy?: 'force' | 'disable' | 'default';
}

/** existing instances of a card in MIG mode, with a layer inside */
export interface MigSettings {
  kind: 'mig';
  /** Name of the system in documents. Default: mig. */
  name?: string;
  /** Use the instances of this profile, all of one card. Default: none; profile or instance is needed. */
  profile?: string;
  /** Use this instance, by its UUID, the beginning of it, or `MIG-GPU-<UUID>/<GI>/<CI>`; all tenants share it. Default: none. */
  instance?: string;
  /** The card whose instances are used, by index or UUID. Default: the one with most instances of the profile. */
  card?: string;
  /** Whether every tenant has an instance of its own, while there are enough, or all share one. Default: own. */
  tenants?: 'own' | 'shared';
  /** The system on each instance, with its settings: `kind: native`, `mps`, `time-slicing`, `hami-core` or `custom`; on the command line `layer.kind=…,layer.sm=…`. Default: native. */
  layer?: {
    kind?: string;
  } & Readonly<Record<string, unknown>>;
}

/** a private daemon of the Multi-Process Service */
export interface MpsSettings {
  kind: 'mps';
  /** Name of the system in documents. Default: mps. */
  name?: string;
  /** Memory limit per process. Default: none. */
  memory?: string;
  /** Percentage of the multiprocessors that a client may use at once, 1 to 100. Not together with partition. Default: none. */
  sm?: number;
  /** GPUs that the daemon serves: the measured one alone, or every visible one, for metrics that need several. Default: measured. */
  gpus?: 'measured' | 'visible';
  /** What enforces memory. `client`: the pinned limit of each client. `cgroup`: the driver by cgroups, one limit for all processes of a tenant; needs driver R615, root, and nvidia-smi in PATH or kernel 6.14 with the controller dmem. Default: client. */
  enforcer?: 'client' | 'cgroup';
  /** The cgroup in which those of the tenants are made. Default: /sys/fs/cgroup. */
  cgroup?: string;
  /** Memory that a tenant keeps on a full card: above it others may take its memory. With enforcer=cgroup, at most memory. Default: none. */
  soft?: string;
  /** Chunks of multiprocessors that a tenant owns; needs driver R590. Default: none. */
  partition?: number;
  /** The preloaded layer that clients are under too, with its settings: `kind: hami-core`, `vgpu-manager`, `fcsp` or `custom`; on the command line `layer.kind=…,layer.library=…`. Default: none. */
  layer?: {
    kind?: string;
  } & Readonly<Record<string, unknown>>;
}

/** nvshare, one preloaded library and a scheduler of its own */
export interface NvshareSettings {
  kind: 'nvshare';
  /** Name of the system in documents. Default: nvshare. */
  name?: string;
  /** libnvshare.so, which has no usual place. Without one the system is unavailable. */
  library?: string;
  /** The program nvshare-scheduler. Default: the one in PATH. */
  scheduler?: string;
  /** Whether one tenant has the card at a time, which nvsharectl calls anti-thrash. Default: true. */
  turns?: boolean;
  /** How long a tenant has the card while it works, in whole seconds. Default: 30s. */
  quantum?: string;
  /** Whether a single process may allocate more than the card has. Default: false. */
  oversubscribe?: boolean;
  /** Where the scheduler listens, which is compiled into both. Default: /var/run/nvshare/scheduler.sock. */
  socket?: string;
}

/** pods of Kubernetes, under what the cluster injects */
export interface PodSettings {
  kind: 'pod';
  /** Name of the system in documents. Default: pod. */
  name?: string;
  /** File with the pod (`kind: Pod`, YAML). Its container that measures gets our command; everything else of it is kept. */
  template: string;
  /** The container that measures. Default: the first one. */
  container?: string;
  /** File with a pod that no layer hooks and that sees the node's GPUs without asking for one, e.g. by `NVIDIA_VISIBLE_DEVICES=all`; it reads NVML while the others measure. `here`: this machine is the node. Default: this machine if another system needs its GPU or the GPU is simulated, else none, and the document says so. */
  truth?: string;
  /** What the pod has to be under: the bare driver (`whole`), a preloaded `layer`, `mps`, or a `mig` instance. Default: what the resources and annotations of the template ask for. */
  under?: 'whole' | 'layer' | 'mps' | 'mig';
  /** Default: the template's, else that of the context. */
  namespace?: string;
  /** Context of kubectl's configuration. Default: the current one. */
  context?: string;
  /** `kubectl`, or the absolute path of one. Default: kubectl. */
  kubectl?: string;
  /** Where this package is in the image, of the same version as here. Default: /opt/gpu-virt-bench/app. */
  package?: string;
  /** Where Node is in the image. Default: /opt/gpu-virt-bench/node. */
  node?: string;
  /** How long a pod may take to run. Default: 5min. */
  startTimeout?: string;
  /** After this time the cluster ends a pod by itself (`activeDeadlineSeconds`), whatever became of this command. Default: 6h. */
  deadline?: string;
}

/** the bare driver, whose tenants take turns on the card by checkpoint */
export interface SwapSettings {
  kind: 'swap';
  /** Name of the system in documents. Default: swap. */
  name?: string;
  /** How long a tenant stays on the card while others wait, without the time of a switch. Default: 2s. */
  slice?: string;
}

/** the bare driver, whose tenants take turns of the same length */
export interface TimeSlicingSettings {
  kind: 'time-slicing';
  /** Name of the system in documents. Default: time-slicing. */
  name?: string;
}

/** vgpu-manager, one preloaded library */
export interface VgpuManagerSettings {
  kind: 'vgpu-manager';
  /** Name of the system in documents. Default: vgpu-manager. */
  name?: string;
  /** The library of the layer, which has no usual place. Without one the system is unavailable. */
  library?: string;
  /** Memory limit of all processes of a tenant together. Default: none. */
  memory?: string;
  /** Percentage of GPU time, 1 to 100. Default: no limit. */
  cores?: number;
  /** The same as cores, by the name that other systems have for it. */
  sm?: number;
  /** Limit while others are idle, above cores. Default: none. */
  'soft-cores'?: number;
  /** How the limit of GPU time is held. Default: delta. */
  controller?: 'delta' | 'aimd' | 'auto';
}

/** any other layer, as its user describes it */
export interface CustomSettings {
  kind: 'custom';
  /** Name of the system in documents. */
  name: string;
  /** Variables of its processes. */
  env?: Readonly<Record<string, SettingScalar>>;
  /** Inherited variables that its processes do not get. */
  unsetEnv?: readonly string[];
  /** A command in front of the process, e.g. `[taskset, -c, "0"]`. */
  prefix?: readonly SettingScalar[];
  /** Files of the layer: must not exist before a tenant, are deleted after it. Absolute or in `{runDir}`, no patterns; with `{tenant}` one per tenant. */
  stateFiles?: readonly SettingScalar[];
  /** Commands that run once, before the first process. */
  setup?: readonly SettingScalar[] | readonly (readonly SettingScalar[])[];
  /** Commands before the first process of each tenant. */
  perTenantSetup?: readonly SettingScalar[] | readonly (readonly SettingScalar[])[];
  /** Commands after all tenants have ended and before the first with other limits starts. */
  betweenLimits?: readonly SettingScalar[] | readonly (readonly SettingScalar[])[];
  /** Commands that run once, after the last process. */
  teardown?: readonly SettingScalar[] | readonly (readonly SettingScalar[])[];
  /** The values of the placeholders, and the limits that metrics expect. */
  limits?: {
    /** Memory limit, a size or per cent of the card. */
    memory?: string;
    /** Compute limit, 1 to 100. */
    sm?: number;
  };
  /** Proofs that the layer is active; if one fails, there are no numbers. Without any the system is called `NAME (unverified)`. */
  verify?: readonly ProofStep[];
  /** Whether the libraries that it names must be seen to intercept driver functions. Default: true. */
  interposes?: boolean;
  /** What the layer can do. */
  capabilities?: {
    /** How its memory limit holds. Default: none. */
    memLimit?: 'none' | 'perProcess' | 'perTenantPool' | 'hardware';
    /** How its compute limit holds: `softDutyCycle` a share of time, `smCap` multiprocessors at once. Default: none. */
    computeLimit?: 'none' | 'softDutyCycle' | 'smCap' | 'hardware';
    /** Whether only root can set it up. Default: false. */
    needsRoot?: boolean;
    /** Whether nothing else may use the GPU. Default: false. */
    needsIdleGpu?: boolean;
    /** Whether it changes the GPU for everybody. Default: false. */
    changesGlobalGpuState?: boolean;
    /** Steps in which its limits can be set. */
    limitGranularity?: {
      /** Smallest step of the memory limit. */
      memory?: string;
      /** Smallest step of the compute limit, in per cent. */
      sm?: number;
    };
  };
}

/** A system, by the keys of the YAML file of `compare --config`. */
export type SystemSettings =
  | NativeSettings
  | ContainerSettings
  | FcspSettings
  | GreenContextSettings
  | HamiCoreSettings
  | MigSettings
  | MpsSettings
  | NvshareSettings
  | PodSettings
  | SwapSettings
  | TimeSlicingSettings
  | VgpuManagerSettings
  | CustomSettings;

/** A proof that the layer is active. If one fails, there are no numbers. */
export type ProofStep =
  | {
      /** The file that owns the function on the measured path matches the regular expression. */
      symbolOwner: {
        /** A function of the driver, such as cuLaunchKernel. */
        symbol: string;
        /** A regular expression. */
        matches: string;
      };
      symbolExported?: never;
      env?: never;
      smCount?: never;
      totalMemory?: never;
      allocationCanary?: never;
      command?: never;
    }
  | {
      symbolOwner?: never;
      /** A preloaded or intercepting library exports that name. */
      symbolExported: string;
      env?: never;
      smCount?: never;
      totalMemory?: never;
      allocationCanary?: never;
      command?: never;
    }
  | {
      symbolOwner?: never;
      symbolExported?: never;
      /** The process has the variable with that value. */
      env: {
        /** The name of the variable. */
        name: string;
        /** The value of the variable. */
        value: string;
      };
      smCount?: never;
      totalMemory?: never;
      allocationCanary?: never;
      command?: never;
    }
  | {
      symbolOwner?: never;
      symbolExported?: never;
      env?: never;
      /** The number of SMs that the process sees is between the bounds. */
      smCount: readonly [number, number];
      totalMemory?: never;
      allocationCanary?: never;
      command?: never;
    }
  | {
      symbolOwner?: never;
      symbolExported?: never;
      env?: never;
      smCount?: never;
      /** Total memory is between the bounds, sizes or per cent of the card. */
      totalMemory: readonly [string, string];
      allocationCanary?: never;
      command?: never;
    }
  | {
      symbolOwner?: never;
      symbolExported?: never;
      env?: never;
      smCount?: never;
      totalMemory?: never;
      /** An allocation of that size is refused. */
      allocationCanary: string;
      command?: never;
    }
  | {
      symbolOwner?: never;
      symbolExported?: never;
      env?: never;
      smCount?: never;
      totalMemory?: never;
      allocationCanary?: never;
      /** The command ends with that code and its output matches. */
      command: {
        /** The program and its arguments; no shell reads them. */
        argv: readonly SettingScalar[];
        /** The exit code that it must have. Default: 0. */
        exit?: number;
        /** A regular expression that its output must match. */
        matches?: string;
      };
    };

/** Prices of GPU hours. */
export interface PriceSettings {
  /** A label. Default: USD. */
  currency?: string;
  /** Price of a whole card for an hour: one for any card, or one per card name of the driver. Default: each system has its own. */
  cards?: number | Readonly<Record<string, number>>;
  /** What one tenant of a system pays for. Default: the share of the card that its memory limit or its compute limit is, the larger of the two; the whole card without a limit. */
  systems?: Readonly<
    Record<
      string,
      | {
          /** The share of the card that one tenant pays for, such as 50%. */
          share: string;
          perHour?: never;
        }
      | {
          share?: never;
          /** A price of an hour. */
          perHour: number;
        }
    >
  >;
}

/** Requests to a server. */
export type LoadSettings = {
  /** http or https. */
  url: string;
  /** Method of the requests, for api http. Default: GET, and POST with a body. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>>;
  /** Number of counted requests. */
  requests: number;
  /** Uncounted requests before them. Default: 3. */
  warmup?: number;
  /** Seconds per request, from when it is sent to the end of its answer. Default: 60. */
  timeout?: number;
} & (
  | {
      /** Closed loop: this many requests at a time. Or `ratePerSecond`. */
      concurrency: number;
      ratePerSecond?: never;
      seed?: never;
    }
  | {
      concurrency?: never;
      /** Open loop: Poisson arrivals, which no answer delays. Or `concurrency`. */
      ratePerSecond: number;
      /** Seed of the arrivals, with ratePerSecond. Default: 1. */
      seed?: number;
    }
) &
  (
    | {
        model?: never;
        prompt?: never;
        maxTokens?: never;
        /** `chat` and `completions`: streamed answers of an OpenAI-compatible server; `http`: any answer. Default: http. */
        api?: 'http';
        /** The whole request; for chat and completions as JSON, of which `stream` is set. */
        body?: string;
      }
    | {
        /** Model that is asked, for chat and completions with a prompt. */
        model: string;
        /** Prompt of the requests, for chat and completions. `{request}` in it or in a body stands for the number of the request. */
        prompt: string;
        /** Most tokens of an answer, with a prompt. Default: 128. */
        maxTokens?: number;
        /** `chat` and `completions`: streamed answers of an OpenAI-compatible server; `http`: any answer. Default: http. */
        api: 'chat' | 'completions';
        body?: never;
      }
    | {
        model?: never;
        prompt?: never;
        maxTokens?: never;
        /** `chat` and `completions`: streamed answers of an OpenAI-compatible server; `http`: any answer. Default: http. */
        api: 'chat' | 'completions';
        /** The whole request; for chat and completions as JSON, of which `stream` is set. */
        body: string;
      }
  );

/** A metric of what a run prints or writes. */
export type ExtractedMetricSettings = {
  /** Stream to which the number is printed. Not together with file. Default: stdout. */
  from?: 'stdout' | 'stderr';
  /** A file that the run writes, relative to its folder. */
  file?: string;
  /** Which of several numbers of one run. Default: last. */
  take?: 'first' | 'last' | 'least' | 'largest' | 'mean' | 'median' | 'sum' | 'p90' | 'p95' | 'p99' | 'p99.9';
  /** Unit of the number. */
  unit: string;
  /** Which is better. */
  direction: 'lower' | 'higher' | 'none';
  /** What counts as a difference: `2%`, or a number in the unit for values that may be zero or negative. Default: 2%. */
  delta?: string | number;
  /** What it counts by, where its unit does not say it (`tokens/s`, `requests/s`, `steps/s`). `none`: nothing. */
  per?: 'token' | 'request' | 'step' | 'none';
} & (
  | {
      /** A regular expression, whose first group is the number. */
      regex: string;
      json?: never;
      jsonl?: never;
    }
  | {
      regex?: never;
      /** A JSON pointer into the output, which is one JSON text. */
      json: string;
      jsonl?: never;
    }
  | {
      regex?: never;
      json?: never;
      /** A JSON pointer into every line that is a JSON text. */
      jsonl: string;
    }
);

/** A program, or a built-in aggressor, that shares the GPU with the others of its scene. */
export interface TenantSettings {
  /** Part of the ids. Default of a task: its name. */
  name?: string;
  /** A victim is measured alone and beside the others; aggressors run until it has ended. Default: victim; of a task aggressor. */
  role?: 'victim' | 'aggressor';
  /** An aggressor of the fixed menu, whose work the device counts. This or `argv`. */
  task?:
    | 'long-kernels'
    | 'block-fill'
    | 'dram-stream'
    | 'l2-thrash'
    | 'tlb-thrash'
    | 'issue-slots'
    | 'copy-to-device'
    | 'copy-to-host'
    | 'launch-storm'
    | 'alloc-storm'
    | 'context-storm'
    | 'graph-storm';
  /** Limits in place of the system's, where it has such. */
  limits?: {
    /** Such as `10GiB`, or `50%` of the card. */
    memory?: string;
    /** Per cent of the SMs. */
    sm?: number;
  };
  /** The program and its arguments as a list; no shell reads them. */
  argv?: readonly SettingScalar[];
  /** Folder in which the program runs. Default: the current directory, and with --config the folder of the file. */
  folder?: string;
  /** Variables of the program. */
  env?: Readonly<Record<string, SettingScalar>>;
  /** Variables of the caller that it gets as they are. Default: none beside the system's. */
  passEnv?: readonly string[];
  /** Exit codes that are no failure. Default: 0. */
  exit?: number | readonly number[];
  /** How it is seen that it can serve. */
  ready?:
    | {
        /** A line that it prints, on stdout or stderr, holds this text. */
        line: string;
        port?: never;
        http?: never;
        file?: never;
      }
    | {
        line?: never;
        /** Something accepts connections at this TCP port of 127.0.0.1 or ::1. */
        port: number;
        http?: never;
        file?: never;
      }
    | {
        line?: never;
        port?: never;
        /** A GET request is answered with a status from 200 to 299. */
        http: string;
        file?: never;
      }
    | {
        line?: never;
        port?: never;
        http?: never;
        /** The file exists. */
        file: string;
      };
  /** Seconds from when it is ready, or from the end of its load, until it is stopped. Default: it ends by itself; with a load, 0. */
  stopAfter?: number;
  /** Requests that are sent to it while it is ready; needs `ready`. */
  load?: ParametersOf<LoadSettings>;
  /** Metrics of what a run prints or writes, by name. */
  metrics?: Readonly<Record<string, ExtractedMetricSettings>>;
}

/** A program to measure, or with tenants a scene. */
export interface WorkloadSettings {
  /** How ids of its metrics begin. */
  name: string;
  /** The program and its arguments as a list; no shell reads them. */
  argv?: readonly SettingScalar[];
  /** Folder in which the program runs. Default: the current directory, and with --config the folder of the file. */
  folder?: string;
  /** Variables of the program. */
  env?: Readonly<Record<string, SettingScalar>>;
  /** Variables of the caller that it gets as they are. Default: none beside the system's. */
  passEnv?: readonly string[];
  /** Exit codes that are no failure. Default: 0. */
  exit?: number | readonly number[];
  /** How it is seen that it can serve. */
  ready?:
    | {
        /** A line that it prints, on stdout or stderr, holds this text. */
        line: string;
        port?: never;
        http?: never;
        file?: never;
      }
    | {
        line?: never;
        /** Something accepts connections at this TCP port of 127.0.0.1 or ::1. */
        port: number;
        http?: never;
        file?: never;
      }
    | {
        line?: never;
        port?: never;
        /** A GET request is answered with a status from 200 to 299. */
        http: string;
        file?: never;
      }
    | {
        line?: never;
        port?: never;
        http?: never;
        /** The file exists. */
        file: string;
      };
  /** Seconds from when it is ready, or from the end of its load, until it is stopped. Default: it ends by itself; with a load, 0. */
  stopAfter?: number;
  /** Requests that are sent to it while it is ready; needs `ready`. */
  load?: ParametersOf<LoadSettings>;
  /** Metrics of what a run prints or writes, by name. */
  metrics?: Readonly<Record<string, ExtractedMetricSettings>>;
  /** Commands whose output the document keeps by these names, such as a list of packages; run once, outside the system. */
  record?: Readonly<Record<string, readonly SettingScalar[]>>;
  /** Commands before the runs of every round, outside the system. */
  setup?: readonly SettingScalar[] | readonly (readonly SettingScalar[])[];
  /** Commands after the runs of every round, outside the system. */
  teardown?: readonly SettingScalar[] | readonly (readonly SettingScalar[])[];
  /** Runs of every round before those that count. Default: 3. */
  warmup?: number;
  /** Runs of every round that count. Default: 10. */
  iterations?: number;
  /** Time limit of a run, in seconds. Default: 600. */
  timeout?: number;
  /** What happens before every run. */
  coolDown?: {
    /** Shortest pause, in seconds. Default: 0. */
    pause?: number;
    /** Longest wait for the temperature, in seconds. Default: 60. */
    most?: number;
    /** How much warmer than before the first run the GPU may be, in °C. Default: 5. */
    degrees?: number;
  };
  /** Checkpoints and restores the program when it is ready, before its load; needs `ready`. `true`: with the defaults. */
  checkpoint?:
    | true
    | {
        /** How often it is checkpointed and restored. Default: 3. */
        repeat?: number;
        /** Seconds for which it stays checkpointed. Default: 0. */
        hold?: number;
        /** What the first answer after a restore is, in the words of `ready`, of which only what is new counts. Default: that of `ready` if it is `http`. */
        answer?:
          | {
              /** A line that it prints, on stdout or stderr, holds this text. */
              line: string;
              port?: never;
              http?: never;
              file?: never;
            }
          | {
              line?: never;
              /** Something accepts connections at this TCP port of 127.0.0.1 or ::1. */
              port: number;
              http?: never;
              file?: never;
            }
          | {
              line?: never;
              port?: never;
              /** A GET request is answered with a status from 200 to 299. */
              http: string;
              file?: never;
            }
          | {
              line?: never;
              port?: never;
              http?: never;
              /** The file exists. */
              file: string;
            };
      };
  /** How the GPU is read while the program runs; `false`: without files. */
  monitor?:
    | false
    | {
        /** How often the GPU is read, such as `100ms`. Default: 100ms. */
        interval?: string;
        /** Whether every run has a file of it. Default: true. */
        csv?: boolean;
      };
  /** Values for `{NAME}` in the other settings: one workload for every combination. */
  matrix?: Readonly<Record<string, readonly SettingScalar[]>>;
  /** Makes it a scene: all of them share the GPU. `argv` is then the victim, if it is there. */
  tenants?: readonly TenantSettings[];
  /** Limits of its own program beside tenants, in place of the system's. */
  limits?: {
    /** Such as `10GiB`, or `50%` of the card. */
    memory?: string;
    /** Per cent of the SMs. */
    sm?: number;
  };
}

/** Text of a setting; YAML reads 4 and true as other types. */
export type SettingScalar = string | number | boolean;

/** An item of the fixed menu of aggressors. */
export type AggressorTask = NonNullable<TenantSettings['task']>;

/** A number may be a text that holds a parameter. */
type ParametersOf<Settings> = Settings extends unknown
  ? { [Key in keyof Settings]: number extends Settings[Key] ? Settings[Key] | string : Settings[Key] }
  : never;
