/** `vgpu-manager`: one preloaded library with limits that controllers hold. */
import { choice, key, percent, size, text } from '../../../config/schema.js';
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';
import { controllers, VgpuManagerSystem } from './vgpu-manager-system.js';
import { kindOf } from '../define.js';
import { libraryOf } from '../library.js';

const vgpuManagerSettings = settings({
  name: nameOf('vgpu-manager'),
  library: key(
    text('FILE'),
    'The library of the layer, which has no usual place. Without one the system is unavailable.',
  ),
  memory: key(size(), 'Memory limit of all processes of a tenant together. Default: none.'),
  cores: key(percent(), 'Percentage of GPU time, 1 to 100. Default: no limit.'),
  sm: key(percent(), 'The same as cores, by the name that other systems have for it.'),
  'soft-cores': key(percent(), 'Limit while others are idle, above cores. Default: none.'),
  controller: key(choice(controllers), 'How the limit of GPU time is held.', 'delta'),
});

export const vgpuManager = kindOf({
  about: 'vgpu-manager, one preloaded library',
  settings: vgpuManagerSettings,
  inside: {
    container: 'its limits are in one file of the whole host',
    mig: 'it names whole GPUs',
    mps: ({ cores, sm }) =>
      cores === undefined && sm === undefined
        ? null
        : 'it holds its compute limit by utilisation per process, which NVML does not give of clients of MPS: leave cores and sm out, and give sm of mps',
  },
  create({ settings: given, name, place, surroundings }) {
    if (given.cores !== undefined && given.sm !== undefined)
      throw place.error('sm', 'Expected cores or sm of vgpu-manager but received both.');
    const sm = given.cores ?? given.sm;
    const softCores = given['soft-cores'];
    if (softCores !== undefined && (sm === undefined || softCores <= sm)) {
      const cores = place.has('sm') ? 'sm' : 'cores';
      throw place.expected('soft-cores', `above ${cores}, which is ${sm ?? 'not set'},`);
    }
    return new VgpuManagerSystem({
      name,
      caller: surroundings.caller,
      ...libraryOf(given.library, place, surroundings),
      memory: given.memory,
      sm,
      softCores,
      controller: given.controller,
    });
  },
});
