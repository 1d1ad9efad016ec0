/** `mps`: a private daemon of NVIDIA's Multi-Process Service. */
import { choice, integer, key, map, matching, percent, size } from '../../../config/schema.js';
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';
import { CGROUPS } from './mps-features.js';
import { LayeredMpsSystem } from './layered-mps-system.js';
import { MpsSystem } from './mps-system.js';
import { kindOf } from '../define.js';

/** Chunks of SMs per partition; far more than any GPU has. */
const MOST_CHUNKS = 256;

const mpsSettings = settings({
  name: nameOf('mps'),
  memory: key(size(), 'Memory limit per process. Default: none.'),
  sm: key(
    percent(),
    'Percentage of the multiprocessors that a client may use at once, 1 to 100. Not together with partition. Default: none.',
  ),
  gpus: key(
    choice(['measured', 'visible']),
    'GPUs that the daemon serves: the measured one alone, or every visible one, for metrics that need several.',
    'measured',
  ),
  enforcer: key(
    choice(['client', 'cgroup']),
    'What enforces memory. `client`: the pinned limit of each client. `cgroup`: the driver by cgroups, one limit for all processes of a tenant; needs driver R615, root, and nvidia-smi in PATH or kernel 6.14 with the controller dmem.',
    'client',
  ),
  cgroup: key(
    matching(/^\/[\w./@:-]*$/, 'the absolute path of a cgroup', 'FOLDER'),
    'The cgroup in which those of the tenants are made.',
    CGROUPS,
  ),
  soft: key(
    size(),
    'Memory that a tenant keeps on a full card: above it others may take its memory. With enforcer=cgroup, at most memory. Default: none.',
  ),
  partition: key(
    integer(1, MOST_CHUNKS, 'CHUNKS'),
    'Chunks of multiprocessors that a tenant owns; needs driver R590. Default: none.',
  ),
  layer: key(
    map({ type: 'object', properties: { kind: { type: 'string' } } }),
    'The preloaded layer that clients are under too, with its settings: `kind: hami-core`, `vgpu-manager`, `fcsp` or `custom`; on the command line `layer.kind=…,layer.library=…`. Default: none.',
  ),
});

export const mps = kindOf({
  about: 'a private daemon of the Multi-Process Service',
  settings: mpsSettings,
  inside: {
    container: ({ enforcer }) =>
      enforcer !== 'cgroup' ? null : 'a runtime puts its containers into cgroups of its own: leave enforcer out',
    mig: ({ gpus, enforcer }) =>
      gpus !== undefined
        ? 'the daemon serves one instance: leave gpus out'
        : enforcer !== 'cgroup'
          ? null
          : 'the driver has no limits by cgroup on an instance: leave enforcer out',
    mps: 'a client has one daemon',
  },
  create({ settings: given, name, place, surroundings: { caller }, inside }) {
    const { memory, sm, gpus, partition, enforcer, cgroup, soft } = given;
    const layer = given.layer === undefined ? undefined : inside(given.layer);
    // With static partitions the driver ignores thread percentages.
    if (partition !== undefined && sm !== undefined)
      throw place.error('partition', 'Expected sm or partition of mps but received both.');
    if (partition !== undefined && gpus === 'visible')
      throw place.error('partition', 'Expected partition or gpus=visible of mps but received both.');
    if (enforcer === 'cgroup' && (memory === undefined || gpus === 'visible'))
      throw place.error('enforcer', 'Expected enforcer=cgroup of mps with memory, and without gpus=visible.');
    if (soft !== undefined && enforcer !== 'cgroup')
      throw place.error('soft', 'Expected soft of mps with enforcer=cgroup: no limit of a client is soft.');
    // HAMi-core reads a UUID in CUDA_VISIBLE_DEVICES as device 0, and vgpu-manager ends a process that sees a second GPU.
    if (layer !== undefined && gpus === 'visible')
      throw place.error('layer', 'Expected layer or gpus=visible of mps but received both: layers limit one GPU.');
    const groups = enforcer === 'cgroup' ? cgroup : null;
    const options = { name, caller, memory, sm, gpus, partition, groups, soft };
    if (layer === undefined) return new MpsSystem(options);
    return new LayeredMpsSystem(new MpsSystem({ ...options, hasLayer: true }), layer.create(name));
  },
});
