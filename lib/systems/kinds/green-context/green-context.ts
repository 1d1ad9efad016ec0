/** `green-context`: workers on a part of the multiprocessors, which the driver sets apart within the process. */
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';
import { needed, percent } from '../../../config/schema.js';
import { kindOf } from '../define.js';
import { GreenContextSystem } from './green-context-system.js';

const greenContextSettings = settings({
  name: nameOf('green-context'),
  sm: needed(
    percent(),
    'Percentage of the multiprocessors, 1 to 100, rounded down to what the driver can set apart. 100: no green context.',
  ),
});

export const greenContext = kindOf({
  about: 'the bare driver, with each process on a part of the multiprocessors',
  settings: greenContextSettings,
  inside: {
    container: true,
    mig: true,
    mps: 'sm of mps already is the part of the multiprocessors: leave layer out',
  },
  create: ({ settings: { sm }, name, surroundings: { caller } }) => new GreenContextSystem({ name, caller, sm }),
});
