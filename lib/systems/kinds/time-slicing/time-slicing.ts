/** `time-slicing`: tenants of equal right on the bare driver, which gives each context its turn. */
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';
import { kindOf } from '../define.js';
import { TimeSlicingSystem } from './time-slicing-system.js';

export const timeSlicing = kindOf({
  about: 'the bare driver, whose tenants take turns of the same length',
  settings: settings({ name: nameOf('time-slicing') }),
  inside: { container: true, mig: true, mps: 'clients of MPS run at the same time, not in turns' },
  create: ({ name, surroundings: { caller } }) => new TimeSlicingSystem({ name, caller }),
});
