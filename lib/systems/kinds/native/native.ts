/** `native`: the bare driver. */
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';
import { NativeSystem } from './native-system.js';
import { kindOf } from '../define.js';

const nativeSettings = settings({ name: nameOf('native') });

export const native = kindOf({
  about: 'the bare driver',
  settings: nativeSettings,
  inside: { container: true, mig: true },
  create: ({ name, surroundings: { caller } }) => new NativeSystem({ name, caller }),
});
