/** `container`: every process in a container of its own, under a layer inside. */
import { containerOptions } from './container-options.js';
import { containerSettings } from './container-settings.js';
import { ContainerSystem } from './container-system.js';
import { kindOf } from '../define.js';

export const container = kindOf({
  about: 'containers, with a layer inside',
  settings: containerSettings,
  inside: {
    container: 'a process is in one container',
    mig: 'containers stand outside of all others (container:layer.kind=mig)',
    mps: 'containers stand outside of all others (container:layer.kind=mps)',
  },
  create: ({ settings, place, name, surroundings: { caller }, inside }) =>
    new ContainerSystem(containerOptions(settings, place, { name, caller, inside })),
});
