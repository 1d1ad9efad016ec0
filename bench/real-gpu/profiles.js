// Part profiles: call profiles of PyTorch and JAX programs (bench/profiled.py), to be shipped, and their predictions
// for a layer compared with the real slow-down of the same programs under it.
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
/** Rounds per program, alternating between native and the layer. */
const ROUNDS = Number(values.rounds ?? 5);
const wanted = values.programs?.split(',') ?? Object.keys(PROGRAMS);

const python = values.python ?? 'python3';
const fileOf = (name) => join(out, `profile-${name}.json`);

function recorded() {
  for (const [name, origin] of Object.entries(PROGRAMS).filter(([each]) => wanted.includes(each))) {
    const options = ['--marks', '--name', name, '--origin', origin, '--output', fileOf(name)];
    const result = command(`profile-${name}`, ['profile', ...options, '--', python, SCRIPT, name]);
    // A missing framework made no call, so nothing was written.
    if (!existsSync(fileOf(name)) && /is not installed/.test(result.stderr))
      lines.push(`     ${name}: ${/\S+ is not installed/.exec(result.stderr)[0]}, so no profile was recorded`);
    else verdict(`profile of ${name}`, result.status === 0, `exit ${result.status}`);
  }
}

const MEMORY_GIB = 100;
const MEMORY = `memory=${MEMORY_GIB}GiB`;
/** The file in which vgpu-manager keeps the first process's limits. */
const VGPU_CONFIG = '/etc/vgpu-manager/config/vgpu.config';

const hamiCore = (library) => ({
  name: 'hami-core',
  spec: `hami-core:library=${library},${MEMORY}`,
  environment: (folder, round) => ({
    LD_PRELOAD: library,
    CUDA_REDIRECT: library,
    CUDA_DEVICE_MEMORY_LIMIT: `${MEMORY_GIB * 1024}m`,
    CUDA_DEVICE_MEMORY_SHARED_CACHE: join(folder, `cache-${round}`),
    LIBCUDA_LOG_LEVEL: '0',
  }),
});

/** Read once, and only if a layer needs it. */
let uuid;
const gpuUuid = () => (uuid ??= /GPU-[0-9a-f-]+/.exec(start('nvidia-smi', ['-L']).stdout)[0]);

const vgpuManager = (library) => ({
  name: 'vgpu-manager',
  spec: `vgpu-manager:library=${library},${MEMORY}`,
  environment() {
    rmSync(VGPU_CONFIG, { force: true });
    return {
      LD_PRELOAD: library,
      MANAGER_VISIBLE_DEVICES: gpuUuid(),
      CUDA_MEM_LIMIT_0: `${MEMORY_GIB}Gi`,
      LOGGER_LEVEL: '0',
    };
  },
});

/**
 * The environments are those of docs/systems.md: the tool does not start the programs, because its predictions are
 * tested.
 */
const layers = [
  ...(values.hami ? [hamiCore(resolve(values.hami))] : []),
  ...(values.vgpu ? [vgpuManager(resolve(values.vgpu))] : []),
];

function stepUs(name, environment) {
  const { status, stdout, stderr } = start(python, [SCRIPT, name], environment);
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr.trim().split('\n').at(-1)}`);
  return Number(/^step_us (\S+)$/m.exec(stdout)[1]);
}

function prices() {
  const args = ['OH-001', 'OH-002', 'OH-003', 'OH-005', '--tier', 'standard', '--rounds', '5'];
  const result = compare('profiles-prices', ['native', ...layers.map(({ spec }) => spec)], args);
  verdict('prices of calls', result.status === 0, `exit ${result.status}`);
}

/** Both figures are published in any case: the question is how well a profile predicts. */
function predicted() {
  const document = join(out, 'profiles-prices.json');
  for (const name of wanted.filter((each) => existsSync(fileOf(each)))) {
    const priced = join(out, `profiles-${name}-priced.json`);
    command(`profiles-${name}-priced`, ['report', document, '--profile', fileOf(name), '--json', priced]);
    const report = command(`profiles-${name}-report`, ['report', document, '--profile', fileOf(name)]);
    lines.push(...report.stdout.split('\n').filter((line) => line.startsWith(`| ${name}, phase`)));
    measured(name);
  }
}

/** Native and every layer in each round, each first, second, … in turn: a process may be slower for what ran before it. */
function measured(name) {
  const folder = mkdtempSync(join(tmpdir(), 'gvb-'));
  const arms = [{ name: 'native', environment: () => ({}) }, ...layers];
  const rounds = Array.from({ length: ROUNDS }, (_, round) => {
    const order = arms.map((_, place) => arms[(place + round) % arms.length]);
    return new Map(order.map((arm) => [arm.name, stepUs(name, arm.environment(folder, round))]));
  });
  rmSync(folder, { recursive: true, force: true });
  if (values.vgpu) rmSync(VGPU_CONFIG, { force: true });
  const native = median(rounds.map((round) => round.get('native')));
  for (const layer of layers) {
    const added = rounds.map((round) => round.get(layer.name) - round.get('native'));
    const each = added.map((us) => us.toFixed(1)).join(', ');
    lines.push(
      `     ${name} under ${layer.name}: a step of ${native.toFixed(1)} us was ${median(added).toFixed(1)} us longer (rounds: ${each})`,
    );
  }
}

export const profiles = [[true, recorded]];
/** Predictions for the profiles in the output folder. */
export const predictions = [
  [values.hami || values.vgpu, prices],
  [values.hami || values.vgpu, predicted],
];
