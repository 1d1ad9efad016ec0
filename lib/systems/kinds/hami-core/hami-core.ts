/** `hami-core`: one preloaded library. */
import { existsSync } from 'node:fs';
import { choice, key, percent, size, text } from '../../../config/schema.js';
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';
import { HamiCoreSystem, policies } from './hami-core-system.js';
import { HAMI_LIBRARY } from './hami-library.js';
import { kindOf } from '../define.js';
import { libraryOf } from '../library.js';

const hamiCoreSettings = settings({
  name: nameOf('hami-core'),
  library: key(text('FILE'), `HAMi-core's library. Default: ${HAMI_LIBRARY}.`),
  memory: key(
    size({ mayBePercent: false }),
    "Memory limit of all processes of a tenant together. Default: the card's memory.",
  ),
  sm: key(percent(), 'Percentage of GPU time, 1 to 100. Default: 100.'),
  policy: key(choice(policies), 'When the limit of GPU time holds.', 'force'),
});

const standardLibrary = () => (existsSync(HAMI_LIBRARY) ? HAMI_LIBRARY : undefined);

export const hamiCore = kindOf({
  about: 'HAMi-core, one preloaded library',
  settings: hamiCoreSettings,
  inside: {
    container: true,
    mig: ({ sm }) =>
      sm === undefined
        ? null
        : 'hami-core does not find its process on an instance, so its compute limit is off: leave sm out',
    mps: ({ sm }) =>
      sm === undefined
        ? null
        : 'nothing shows that the compute limit of hami-core works on clients of MPS: leave sm out, and give sm of mps',
  },
  create({ settings: { library, memory, sm, policy }, name, place, surroundings }) {
    const found = libraryOf(library ?? standardLibrary(), place, surroundings);
    return new HamiCoreSystem({ name, caller: surroundings.caller, ...found, memory, sm, policy });
  },
  resolved(settings) {
    const library = standardLibrary();
    return settings.library === undefined && library !== undefined ? { library, ...settings } : settings;
  },
});
