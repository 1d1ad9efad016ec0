/** `mig`: existing instances of a card in MIG mode. */
import { choice, key, map, matching } from '../../../config/schema.js';
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';
import { kindOf } from '../define.js';
import { MigSystem } from './mig-system.js';

const migSettings = settings({
  name: nameOf('mig'),
  profile: key(
    matching(/^(\d+c\.)?\d+g\.\d+gb(\+[a-z.]+)?$/, 'a profile such as 1g.18gb', 'PROFILE'),
    'Use the instances of this profile, all of one card. Default: none; profile or instance is needed.',
  ),
  instance: key(
    matching(
      /^MIG-[0-9A-Za-z/-]{1,80}$/,
      'MIG-<UUID> or MIG-GPU-<UUID of the card>/<GPU instance>/<compute instance>',
      'UUID',
    ),
    'Use this instance, by its UUID, the beginning of it, or `MIG-GPU-<UUID>/<GI>/<CI>`; all tenants share it. Default: none.',
  ),
  card: key(
    matching(/^(\d{1,4}|GPU-[0-9a-fA-F-]+)$/, 'the index or UUID of a card', 'CARD'),
    'The card whose instances are used, by index or UUID. Default: the one with most instances of the profile.',
  ),
  tenants: key(
    choice(['own', 'shared']),
    'Whether every tenant has an instance of its own, while there are enough, or all share one.',
    'own',
  ),
  layer: key(
    map({ type: 'object', properties: { kind: { type: 'string' } } }),
    'The system on each instance, with its settings: `kind: native`, `mps`, `time-slicing`, `hami-core` or `custom`; on the command line `layer.kind=…,layer.sm=…`. Default: native.',
  ),
});

export const mig = kindOf({
  about: 'existing instances of a card in MIG mode, with a layer inside',
  settings: migSettings,
  inside: {
    container: ({ instance, tenants }) =>
      instance !== undefined || tenants === 'shared'
        ? null
        : 'all containers get one instance: give instance or tenants=shared',
    mig: 'an instance has no instances of its own',
    mps: 'a daemon stands inside of an instance (mig:layer.kind=mps)',
  },
  create({ settings: { profile, instance, card, tenants, layer: given = {} }, name, place, inside }) {
    if (profile === undefined && instance === undefined)
      throw place.error('profile', 'Expected mig to have profile or instance: nvidia-smi -L lists the instances.');
    const { create } = inside(given);
    return new MigSystem({ name, profile, instance, card, tenants, createLayer: create });
  },
});
