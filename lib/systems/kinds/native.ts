/** `native`: the bare driver. */
import { key } from '../../config/schema.js';
import { label } from '../../config/label.js';
import { settings } from '../../config/read.js';
import { NativeSystem } from '../native.js';
import { kindOf } from './define.js';

const nativeSettings = settings({ name: key(label(), 'Its name in documents. Default: native.') });

export const native = kindOf({
  about: 'the bare driver',
  settings: nativeSettings,
  create: ({ name, surroundings: { caller } }) => new NativeSystem({ name, caller }),
});
