/** `pod`: every process in a pod of Kubernetes, under what the cluster injects. */
import { resolve } from 'node:path';
import { kindOf } from '../define.js';
import { podOptions } from './pod-options.js';
import { podSettings } from './pod-settings.js';
import { PodSystem } from './pod-system.js';

export const pod = kindOf({
  about: 'pods of Kubernetes, under what the cluster injects',
  settings: podSettings,
  inside: {
    container: 'the cluster starts what is in a pod',
    mps: 'the cluster starts what is in a pod, and its device plugin the daemon',
    mig: 'a pod gets its instance from the cluster (nvidia.com/mig-1g.18gb in its limits)',
  },
  create: ({ settings, place, name, surroundings: { caller, folder } }) =>
    new PodSystem(podOptions(settings, { name, place, folder, caller })),
  resolved(settings, folder) {
    const absolute = (value: unknown) =>
      typeof value === 'string' && value !== 'here' ? resolve(folder, value) : value;
    const files = ['template', 'truth'].filter((key) => Object.hasOwn(settings, key));
    return {
      ...settings,
      ...Object.fromEntries(files.map((key) => [key, absolute(settings[key])])),
    } as typeof settings;
  },
});
