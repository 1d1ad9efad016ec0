/** `mps`: a private daemon of NVIDIA's Multi-Process Service. */
import { choice, integer, key, matching, percent, size } from '../../../config/schema.js';
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';
import { CGROUPS } from './mps-features.js';
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
  },
  create({ settings: { memory, sm, gpus, partition, enforcer, cgroup, soft }, name, place, surroundings: { caller } }) {
    // With static partitions the driver ignores thread percentages.
    if (partition !== undefined && sm !== undefined)
      throw place.error('partition', 'Expected sm or partition of mps but received both.');
    if (partition !== undefined && gpus === 'visible')
      throw place.error('partition', 'Expected partition or gpus=visible of mps but received both.');
    if (enforcer === 'cgroup' && (memory === undefined || gpus === 'visible'))
      throw place.error('enforcer', 'Expected enforcer=cgroup of mps with memory, and without gpus=visible.');
    if (soft !== undefined && enforcer !== 'cgroup')
      throw place.error('soft', 'Expected soft of mps with enforcer=cgroup: no limit of a client is soft.');
    const groups = enforcer === 'cgroup' ? cgroup : null;
    return new MpsSystem({ name, caller, memory, sm, gpus, partition, groups, soft });
  },
});
