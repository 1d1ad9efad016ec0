// Part profiles: call profiles of PyTorch and JAX programs (bench/profiled.py), to be shipped, and what they predict for a layer
// against how much slower the same programs really are under it.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { command, compare, lines, median, out, start, values, verdict } from './evidence.js';

const SCRIPT = fileURLToPath(new URL('../profiled.py', import.meta.url));
const MODEL = 'a Llama-shaped model, 16 layers, hidden 2048, 32 heads, bf16, random weights';
const PROGRAMS = {
  eager: `PyTorch, eager decode of ${MODEL}, batch 1, 512 tokens in the cache`,
  graphs: `PyTorch, decode in a CUDA graph of ${MODEL}, batch 1, 512 tokens in the cache`,
  training: `PyTorch, a training step of ${MODEL}, batch 2 of 512 tokens, AdamW`,
  jax: 'JAX, a compiled training step of 16 square layers, hidden 2048, 512 rows',
};
/** Of a program natively and under the layer, in turn. */
const ROUNDS = 5;

const python = values.python ?? 'python3';
const fileOf = (name) => join(out, `profile-${name}.json`);

function recorded() {
  for (const [name, origin] of Object.entries(PROGRAMS)) {
    const options = ['--marks', '--name', name, '--origin', origin, '--output', fileOf(name)];
    const result = command(`profile-${name}`, ['profile', ...options, '--', python, SCRIPT, name]);
    // A framework that is missing made no call: nothing was written.
    if (!existsSync(fileOf(name)) && /is not installed/.test(result.stderr))
      lines.push(`     ${name}: ${/\S+ is not installed/.exec(result.stderr)[0]}, so no profile was recorded`);
    else verdict(`profile of ${name}`, result.status === 0, `exit ${result.status}`);
  }
}

const MEMORY = 'memory=100GiB';

function stepUs(name, environment) {
  const { status, stdout, stderr } = start(python, [SCRIPT, name], environment);
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr.trim().split('\n').at(-1)}`);
  return Number(/^step_us (\S+)$/m.exec(stdout)[1]);
}

/** Both figures are published whatever they say: how well a profile predicts is what is asked. */
function predicted() {
  const library = resolve(values.hami);
  const args = ['OH-001', 'OH-002', 'OH-003', 'OH-005', '--tier', 'standard', '--rounds', '5'];
  const result = compare('profiles-prices', ['native', `hami-core:library=${library},${MEMORY}`], args);
  verdict('prices of calls under HAMi-core', result.status === 0, `exit ${result.status}`);
  for (const name of Object.keys(PROGRAMS).filter((each) => existsSync(fileOf(each)))) {
    const priced = join(out, `profiles-${name}-priced.json`);
    const document = join(out, 'profiles-prices.json');
    command(`profiles-${name}-priced`, ['report', document, '--profile', fileOf(name), '--json', priced]);
    const report = command(`profiles-${name}-report`, ['report', document, '--profile', fileOf(name)]);
    lines.push(...report.stdout.split('\n').filter((line) => line.startsWith(`| ${name}, phase`)));
    const folder = mkdtempSync(join(tmpdir(), 'gvb-'));
    const layer = (round) => ({
      LD_PRELOAD: library,
      CUDA_REDIRECT: library,
      CUDA_DEVICE_MEMORY_LIMIT: '102400m',
      CUDA_DEVICE_MEMORY_SHARED_CACHE: join(folder, `cache-${round}`),
      LIBCUDA_LOG_LEVEL: '0',
    });
    const rounds = Array.from({ length: ROUNDS }, (_, round) => [stepUs(name, {}), stepUs(name, layer(round))]);
    rmSync(folder, { recursive: true, force: true });
    const added = rounds.map(([native, under]) => under - native);
    const [least, most] = [Math.min(...added), Math.max(...added)].map((us) => us.toFixed(1));
    const native = median(rounds.map(([us]) => us));
    lines.push(
      `     ${name}: a step of ${native.toFixed(1)} us was ${median(added).toFixed(1)} us longer (${least} … ${most} over ${ROUNDS} rounds)`,
    );
  }
}

export const profiles = [
  [true, recorded],
  [values.hami, predicted],
];
