// The cost of eight processes that launch on one simulated card at the same time.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { program } from './programs.js';

const PROCESSES = 8;
const LAUNCHES = 10_000;

const simulated = fileURLToPath(new URL('../build/Release/sim', import.meta.url));

/** Processor time, and the cost of the last launches relative to the first. */
function launches(file, region, settings = '') {
  const GVB_SIM = `region=${region},init_ms=0,context_ms=0,launch_ns=0${settings}`;
  const child = spawn(file, [String(LAUNCHES)], {
    env: { LD_LIBRARY_PATH: simulated, GVB_SIM },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`It ended with ${code}.`)),
    );
  });
}

export async function simulatedCardRows() {
  const file = program('simulated_launches');
  const region = `limits-${randomUUID().slice(0, 8)}`;
  const all = await Promise.all(Array.from({ length: PROCESSES }, () => launches(file, region)));
  const cpu = all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  // A single process, because others would make it wait for the card. Kernels take no time, because a launch takes half
  // a microsecond: with kernels of one, the last launches would wait for room in the queue.
  const { lastByFirst } = await launches(file, `${region}-alone`, ',kernel_ns=0');
  return [
    { what: `${PROCESSES} processes, ${LAUNCHES} launches each: CPU s`, value: cpu, limit: 2 },
    { what: 'a process alone: last launches / first ones', value: lastByFirst, limit: 2 },
  ];
}
