/**
 * The coordinator must see the bare GPU, so no layer may be preloaded into it: when started with LD_PRELOAD, it
 * restarts without it, and the workers get the original value back.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** systems/environment.ts restores it; repeated here because importing that file would slow every start. */
const CALLER_PRELOAD = 'GVB_CALLER_LD_PRELOAD';
const FIRST_START = 'GVB_FIRST_START_PID';
const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The exit code of the second start, or null if there was nothing to remove. */
export async function restartWithoutPreload(): Promise<number | null> {
  const { LD_PRELOAD: preload, ...environment } = process.env;
  if (!preload?.trim()) return null;
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    env: { ...environment, [CALLER_PRELOAD]: preload, [FIRST_START]: String(process.pid) },
    stdio: 'inherit',
    // A process group of its own: a Ctrl-C at the terminal then reaches it once, through this process, not twice.
    detached: true,
  });
  for (const signal of forwarded) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}
