/**
 * The coordinator must see the GPU as it is, so it may not have a layer preloaded: started with LD_PRELOAD it starts
 * again without it, and the workers get the original value back.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** systems/environment.ts gives it back; named here too, because importing that file would cost every start. */
const CALLER_PRELOAD = 'GVB_CALLER_LD_PRELOAD';
const FIRST_START = 'GVB_FIRST_START_PID';
const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The exit code of the second start, or null where there was nothing to step out of. */
export async function restartWithoutPreload(): Promise<number | null> {
  const { LD_PRELOAD: preload, ...environment } = process.env;
  if (!preload?.trim()) return null;
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    env: { ...environment, [CALLER_PRELOAD]: preload, [FIRST_START]: String(process.pid) },
    stdio: 'inherit',
    // Of its own group: a Ctrl-C at the terminal then reaches it once, through us, not twice.
    detached: true,
  });
  for (const signal of forwarded) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}
