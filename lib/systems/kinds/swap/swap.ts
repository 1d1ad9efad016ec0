/** `swap`: tenants take turns on the card by checkpoint and restore. */
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';
import { duration, key } from '../../../config/schema.js';
import { kindOf } from '../define.js';
import { SwapSystem } from './swap-system.js';

const swapSettings = settings({
  name: nameOf('swap'),
  slice: key(
    duration({ shortestMs: 10, longestMs: 3_600_000 }),
    'How long a tenant stays on the card while others wait, without the time of a switch.',
    '2s',
  ),
});

export const swap = kindOf({
  about: 'the bare driver, whose tenants take turns on the card by checkpoint',
  settings: swapSettings,
  inside: {
    container: 'checkpoints are made from outside of the container, whose processes have other PIDs',
    mig: 'the driver does not checkpoint processes on an instance',
    mps: 'the driver does not checkpoint clients of MPS',
  },
  create: ({ settings: { slice }, name, surroundings: { caller } }) => new SwapSystem({ name, caller }, slice),
});
