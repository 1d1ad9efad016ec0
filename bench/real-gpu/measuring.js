// Part 1: a native run, agreement with the hand-written probe, calibration, and runs under HAMi-core and under a build
// that exports only dlsym.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { command, functionsOf, median, metric, out, run, start, values, verdict } from './evidence.js';

const FIVE = 'OH-00[1-5]';

function native() {
  const { document, seconds } = run('native', [FIVE]);
  const statuses = document.metrics.map(({ id, status, value }) => `${id} ${status} ${value}`).join(', ');
  verdict(
    'native run, all five metrics ok',
    document.metrics.length === 5 && document.metrics.every(({ status }) => status === 'ok'),
    statuses,
  );
  verdict('quick run of five metrics under 10 s', seconds < 10, `${seconds.toFixed(1)} s`);
  verdict(
    'not simulated',
    document.gpu.every(({ simulated }) => !simulated),
    document.gpu.map(({ name }) => name).join(),
  );
  const { sampler, coordinatorCpuPercent } = document;
  verdict('the sampler saw the card', sampler?.timeMs.length > 5, `${sampler?.timeMs.length} readings`);
  verdict('coordinator below 5 % of a core', coordinatorCpuPercent < 5, `${coordinatorCpuPercent.toFixed(2)} %`);
}

function calibrated() {
  const result = command('calibration', ['calibrate', '--json', join(out, 'calibration.json')]);
  verdict('calibrate recovers every truth', result.status === 0, `exit ${result.status}`);
}

/** The probe prints one "round trip p50 N" per block; both sides alternate, so that drift of the host affects both. */
function probe() {
  const ours = [];
  const theirs = [];
  const log = [];
  for (const arm of ['probe', 'tool', 'tool', 'probe', 'probe', 'tool']) {
    if (arm === 'probe') {
      const { stdout } = start(values.probe, [values.ptx, '1000']);
      log.push(stdout);
      theirs.push(...[...stdout.matchAll(/round trip p50 (\d+)/g)].map(([, ns]) => Number(ns) / 1_000));
    } else {
      const { document } = run(`oh-001-${ours.length}`, ['OH-001', '--iterations', '2000']);
      ours.push(metric(document, 'OH-001').details.calls[0].roundTripUs);
    }
  }
  writeFileSync(join(out, 'probe.txt'), log.join('\n'));
  const ratio = median(ours) / median(theirs);
  verdict(
    'round trip within 5 % of the hand-written probe',
    Math.abs(ratio - 1) <= 0.05,
    `ratio ${ratio.toFixed(4)} (tool ${ours.map((x) => x.toFixed(2)).join(' ')}, probe ${theirs.map((x) => x.toFixed(2)).join(' ')} us)`,
  );
}

/** Runs under a layer as its user would start it. */
function under(library, use) {
  const folder = mkdtempSync(join(tmpdir(), 'gvb-'));
  const path = resolve(library);
  try {
    use(path, {
      LD_PRELOAD: path,
      CUDA_REDIRECT: path,
      CUDA_DEVICE_MEMORY_SHARED_CACHE: join(folder, 'cache'),
      CUDA_DEVICE_MEMORY_LIMIT: '10240m',
      GPU_CORE_UTILIZATION_POLICY: 'force',
      LIBCUDA_LOG_LEVEL: '0',
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const hami = () =>
  under(values.hami, (path, environment) => {
    command('hami-doctor', ['doctor'], environment);
    const { document } = run('hami', [FIVE], environment);
    const owned = (by) => document.provenance.filter(({ paths }) => paths[by] === path).length;
    verdict(
      'provenance names the layer on runtime and dlsym',
      owned('runtime') > 0 && owned('dlsym') > 0,
      `runtime ${owned('runtime')}, dlsym ${owned('dlsym')}, linked ${owned('linked')} functions`,
    );
    const functions = functionsOf(document);
    // Wide enough for hosts that differ by a factor of 1.6 for the same calls.
    for (const [name, low, high, { overheadNs, ci95 }] of [
      ['cuMemGetInfo_v2', 500, 1_800, functions.get('cuMemGetInfo_v2')],
      ['cuLaunchKernel (isolated)', 100, 500, metric(document, 'OH-001').details.pair],
      ['cuLaunchKernel (in a loop)', 10, 500, functions.get('cuLaunchKernel')],
    ]) {
      verdict(
        `${name} hooked − bare within ${low} … ${high} ns`,
        overheadNs >= low && overheadNs <= high,
        `${overheadNs.toFixed(1)} ns, ${JSON.stringify(ci95)}`,
      );
    }
    const controls = [...functions.values()].filter(({ control }) => control);
    const worst = Math.max(...controls.map(({ overheadNs }) => Math.abs(overheadNs)));
    verdict(
      'never-hooked controls within ±5 ns',
      controls.length > 0 && worst <= 5,
      `worst ${worst.toFixed(2)} ns of ${controls.length}`,
    );
  });

const crippled = () =>
  under(values.crippled, (_path, environment) => {
    const { document } = run('hami-crippled', ['OH-005'], environment);
    const { layer } = document.system;
    verdict(
      'the layer that exports only dlsym is said to hook nothing',
      layer?.active === false && document.warnings.some((warning) => /hooks no/.test(warning)),
      `exports ${layer?.exports}, active ${layer?.active}`,
    );
  });

export const measuring = [
  [true, native],
  [true, calibrated],
  [values.probe, probe],
  [values.hami, hami],
  [values.crippled, crippled],
];
