/** The settings of `kind: container`. */
import { choice, key, map, matching, needed, text, texts } from '../../../config/schema.js';
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';

export const gpuWays = ['cdi', 'hook', 'devices', 'none'] as const;

/** Matches names of images in registries, and IDs of images; never text that could be an option. */
const imageName = /^[A-Za-z0-9][A-Za-z0-9._\-/:@+]{0,511}$/;
const cdiName = /^[A-Za-z][A-Za-z0-9_.-]*\/[A-Za-z][A-Za-z0-9_-]*=[A-Za-z0-9][A-Za-z0-9_.:-]*$/;

export const containerSettings = settings({
  name: nameOf('container'),
  runtime: needed(text('podman'), '`docker`, `podman`, `nerdctl`, `runc` or `crun`, or the absolute path of one.'),
  image: key(
    matching(imageName, 'the name or ID of an image', 'IMAGE'),
    'Image for docker, podman and nerdctl; it must be there, nothing is pulled.',
  ),
  bundle: key(
    text(),
    'Absolute path of an OCI bundle for runc and crun, with `rootfs/` and, if it needs one, `config.json`, whose command, environment and namespaces are replaced.',
  ),
  gpu: key(
    choice(gpuWays),
    "`cdi`: the CDI device of the measured GPU, or the one that `device` names. `hook`: the hook or runtime of the NVIDIA container toolkit. `devices`: the device nodes in the list `devices`; the image must then hold the driver's libraries. Default: cdi, and none on the simulated card.",
  ),
  device: key(
    matching(cdiName, 'a CDI device such as nvidia.com/gpu=0'),
    'The CDI device, such as `nvidia.com/gpu=0`. Default: that of the measured GPU.',
  ),
  devices: key(texts(), 'Device nodes, such as `/dev/nvidia0`, for `gpu: devices`.'),
  mounts: key(texts(), '`/outside`, `/outside:/inside` or `/outside:/inside:rw`; read-only unless `rw`.'),
  pid: key(
    choice(['host', 'private']),
    "The namespace of PIDs. `host`: NVML's PIDs are those of the processes, and signals reach programs as they do natively.",
    'host',
  ),
  ipc: key(choice(['host', 'private']), 'The namespace of IPC. `host`: CUDA IPC works between containers.', 'host'),
  network: key(choice(['host', 'none']), 'The network. `host`: a server is reached at its port.', 'host'),
  args: key(texts(), 'Further options of `run`, e.g. `[--cpus=4, --shm-size=8g, --user=1000]`.'),
  runtimeOptions: key(texts(), 'Options before the subcommand, in every call, e.g. `[--cgroup-manager=cgroupfs]`.'),
  layer: key(
    map({ type: 'object', properties: { kind: { type: 'string' } } }),
    'The system inside, with its settings: `kind: native`, `hami-core`, `mig`, `mps`, `custom` and others; on the command line `layer.kind=…,layer.library=…`. Default: native.',
  ),
});
