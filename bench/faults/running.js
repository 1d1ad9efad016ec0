// Runs one command of faults.js as a process, does to it what the case says, and looks at what is left.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { markedProcesses } from '../children.js';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
/** Every case takes seconds; the machine may be busy. */
const DEADLINE_MS = 240_000;
/** Processes that are about to end get so long. */
const SETTLING_MS = 15_000;
const MARK = 'GVB_FAULT';
/** Short costs of the simulated card. */
const CARD = 'init_ms=1,context_ms=1,alloc_us=4,free_us=4';

const processesOf = (mark) => markedProcesses(`${MARK}=${mark}`);

const end = (pid, signal) => {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
};

/** The signals of the case, at its time; resolves to those that were sent. */
async function sendSignals(child, mark, { signals, whom, afterMs }) {
  const sent = [];
  for (const signal of signals) {
    await sleep(afterMs);
    const others = processesOf(mark).filter(({ pid }) => pid !== child.pid);
    const pid = whom === 'command' ? child.pid : others[afterMs % others.length]?.pid;
    if (pid === undefined || child.exitCode !== null || child.signalCode !== null) continue;
    end(pid, signal);
    if (whom === 'command') sent.push(signal);
  }
  return sent;
}

async function leftOf(mark) {
  const until = performance.now() + SETTLING_MS;
  while (processesOf(mark).length > 0 && performance.now() < until) await sleep(50);
  const left = processesOf(mark);
  for (const { pid } of left) end(pid, 'SIGKILL');
  return left.map(({ pid, line }) => `${pid} ${line}`);
}

/** The signal by which Node ends in this environment whatever it runs: ICU crashes on some texts in LC_ALL. */
function signalOfNode(env) {
  const { signal } = spawnSync(process.execPath, ['-e', '0'], { env });
  return signal === null ? [] : [signal];
}

/** `mark` is its own, and the name of its card. */
export async function runCase({ args, env, sim, kill, stdout, descriptors }, { cwd, temporary, home, mark }) {
  const full = stdout === 'full' ? openSync('/dev/full', 'w') : null;
  const command = [process.execPath, main, ...args];
  const [file, ...rest] =
    descriptors === null ? command : ['/bin/sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh', ...command];
  const card = [`region=${mark}`, CARD, sim].filter(Boolean).join(',');
  const environment = {
    PATH: process.env.PATH,
    HOME: home,
    LC_ALL: 'C.UTF-8',
    TMPDIR: temporary,
    GVB_SIM: card,
    [MARK]: mark,
    ...env,
  };
  const child = spawn(file, rest, {
    cwd,
    env: environment,
    stdio: ['ignore', full ?? 'pipe', 'pipe'],
  });
  if (full !== null) closeSync(full);
  const seen = { stdout: '', stderr: '' };
  if (stdout === 'closed') child.stdout.destroy();
  else child.stdout?.on('data', (chunk) => (seen.stdout += chunk));
  child.stderr.on('data', (chunk) => (seen.stderr += chunk));
  let timedOut = false;
  const limit = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, DEADLINE_MS);
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const sent = kill === null ? [] : await sendSignals(child, mark, kill);
  const outcome = await ended;
  clearTimeout(limit);
  const left = await leftOf(mark);
  if (outcome.signal !== null && sent.length === 0) sent.push(...signalOfNode(environment));
  return { ...outcome, ...seen, timedOut, left, sent };
}

/** Names in /dev/shm of the case's card. */
export const sharedOf = (mark) =>
  readdirSync('/dev/shm')
    .filter((name) => name.includes(mark))
    .map((name) => join('/dev/shm', name));
