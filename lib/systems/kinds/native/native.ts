/** `native`: the bare driver. */
import { resolve } from 'node:path';
import { nameOf } from '../../../config/label.js';
import type { RawMap } from '../../../config/raw.js';
import { settings } from '../../../config/read.js';
import { key, text } from '../../../config/schema.js';
import { NativeSystem } from './native-system.js';
import { kindOf } from '../define.js';

const nativeSettings = settings({
  name: nameOf('native'),
  recorded: key(
    text('FILE'),
    'A result of compare, whose rounds of native stand for these, as where every card is in MIG mode now. Default: native is measured.',
  ),
});

const measuredNow = ({ recorded }: RawMap): string | null =>
  recorded === undefined ? null : 'a recorded result is measured nowhere: leave recorded out';

export const native = kindOf({
  about: 'the bare driver',
  settings: nativeSettings,
  inside: {
    container: measuredNow,
    mig: measuredNow,
    mps: 'without a layer clients use the bare driver: leave layer out, or give its kind',
  },
  create: ({ settings: { recorded }, name, surroundings: { caller, folder } }) =>
    new NativeSystem({ name, caller }, recorded === undefined ? undefined : resolve(folder, recorded)),
  resolved: (given, folder) =>
    typeof given.recorded === 'string' ? { ...given, recorded: resolve(folder, given.recorded) } : given,
});
