/** `nvshare`: one preloaded library, and a scheduler that is started for the run. */
import { accessSync, constants } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { duration, flag, key, text } from '../../../config/schema.js';
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';
import type { Place } from '../../../config/setting-place.js';
import { kindOf } from '../define.js';
import { libraryOf } from '../library.js';
import { NvshareSystem, SOCKET } from './nvshare-system.js';

/** What fits into sun_path. */
const LONGEST_SOCKET = 107;

const nvshareSettings = settings({
  name: nameOf('nvshare'),
  library: key(text('FILE'), 'libnvshare.so, which has no usual place. Without one the system is unavailable.'),
  scheduler: key(text('FILE'), 'The program nvshare-scheduler. Default: the one in PATH.'),
  turns: key(flag(), 'Whether one tenant has the card at a time, which nvsharectl calls anti-thrash.', true),
  quantum: key(
    duration({ shortestMs: 1_000, longestMs: 3_600_000 }),
    'How long a tenant has the card while it works, in whole seconds.',
    '30s',
  ),
  oversubscribe: key(flag(), 'Whether a single process may allocate more than the card has.', false),
  socket: key(text('FILE'), 'Where the scheduler listens, which is compiled into both.', SOCKET),
});

export const nvshare = kindOf({
  about: 'nvshare, one preloaded library and a scheduler of its own',
  settings: nvshareSettings,
  inside: {
    container: 'its scheduler and the socket are those of the host',
    mig: 'its scheduler knows the whole GPU 0 alone',
    mps: 'its tenants take turns, clients of MPS run at the same time',
  },
  create({ settings: given, name, place, surroundings }) {
    const { quantum, turns, oversubscribe, socket, scheduler } = given;
    if (quantum % 1_000 !== 0) throw place.expected('quantum', 'whole seconds');
    if (!isAbsolute(socket) || Buffer.byteLength(socket) > LONGEST_SOCKET)
      throw place.expected('socket', `an absolute path of at most ${LONGEST_SOCKET} bytes`);
    return new NvshareSystem({
      name,
      caller: surroundings.caller,
      ...libraryOf(given.library, place, surroundings),
      scheduler: scheduler === undefined ? undefined : programOf(scheduler, place, surroundings.folder),
      socket,
      turns,
      quantumSeconds: quantum / 1_000,
      oversubscribe,
    });
  },
  resolved: (settings, folder) =>
    typeof settings.scheduler === 'string' ? { ...settings, scheduler: resolve(folder, settings.scheduler) } : settings,
});

function programOf(path: string, place: Place, folder: string): string {
  const program = resolve(folder, path);
  try {
    accessSync(program, constants.X_OK);
    return program;
  } catch {
    throw place.expected('scheduler', 'a program', 'there is none that can be started.');
  }
}
