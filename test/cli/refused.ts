/**
 * Runs a command that must be refused before it starts anything. It runs in this process, which saves starting one.
 */
import type { EventEmitter } from 'node:events';
import { expect } from 'vitest';
import { main } from '../../lib/cli/program.js';
import { cardIn, emptyFolder, type Outcome } from './command.js';

const environment = (sim: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: emptyFolder(),
  LC_ALL: 'C.UTF-8',
  GVB_SIM: cardIn(`refused-${process.pid}`, sim),
});

/**
 * Listeners that a command adds for the life of its process. Here the process continues: `vitest` ends it with SIGTERM.
 */
const listening: readonly (readonly [EventEmitter, string])[] = [
  ...(['stdout', 'stderr'] as const).map((name) => [process[name], 'error'] as const),
  ...['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => [process, signal] as const),
];

/** Use only for commands that fail early: workers left in this process would not be cleaned up. */
export async function refused(args: readonly string[], { cwd = emptyFolder(), sim = '' } = {}): Promise<Outcome> {
  const seen = { stdout: '', stderr: '' };
  const before = { cwd: process.cwd(), env: process.env, code: process.exitCode };
  const streams = (['stdout', 'stderr'] as const).map((name) => ({ name, write: process[name].write }));
  const listeners = listening.map(([emitter, event]) => emitter.listeners(event));
  try {
    for (const { name } of streams)
      process[name].write = ((text: string | Uint8Array) => {
        seen[name] += text.toString();
        return true;
      }) as typeof process.stdout.write;
    process.chdir(cwd);
    process.env = environment(sim);
    process.exitCode = undefined;
    await main(['node', 'gpu-virt-bench', ...args]);
    return { code: Number(process.exitCode ?? 0), ...seen };
  } finally {
    for (const { name, write } of streams) process[name].write = write;
    for (const [i, [emitter, event]] of listening.entries())
      for (const listener of emitter.listeners(event))
        if (!listeners[i]?.includes(listener)) emitter.off(event, listener as () => void);
    process.chdir(before.cwd);
    process.env = before.env;
    process.exitCode = before.code;
  }
}

/** Exit code 2, one line that says what was expected, and nothing on standard output. */
export function expectRefusal({ code, stdout, stderr }: Outcome, says: RegExp): void {
  expect(stderr).toMatch(/^error: [^\n]+\n$/);
  expect(stderr).toMatch(says);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
}
