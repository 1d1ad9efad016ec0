// Records the evidence of the first measurements on a real GPU and checks it: a native run, agreement with the
// hand-written probe, calibration, runs and comparisons under HAMi-core, and under one that exports only dlsym.
// Usage: node bench/real-gpu.js --tool ./gpu-virt-bench --out DIR [--probe FILE --ptx FILE] [--hami FILE] [--crippled FILE]
// Every document is written before it is judged; the verdicts are DIR/summary.txt. Exit 1 when one of them is "no".
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const text = { type: 'string' };
const { values } = parseArgs({
  options: { tool: text, out: text, probe: text, ptx: text, hami: text, crippled: text },
});
if (!values.tool || !values.out) {
  console.error('Expected --tool FILE and --out DIR.');
  process.exit(2);
}
const tool = resolve(values.tool);
const out = resolve(values.out);
mkdirSync(out, { recursive: true });
const lines = [];
let failed = false;

function verdict(what, passed, detail) {
  failed ||= !passed;
  lines.push(`${passed ? 'yes' : 'no '}  ${what}: ${detail}`);
}

function start(command, args, env = {}) {
  const began = performance.now();
  const result = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env }, timeout: 240_000 });
  return { ...result, seconds: (performance.now() - began) / 1_000 };
}

function run(file, args, env) {
  const path = join(out, file);
  const result = start(tool, ['run', ...args, '--json', path], env);
  writeFileSync(join(out, file.replace('.json', '.txt')), `${result.stdout}\n${result.stderr}`);
  if (result.status !== 0)
    lines.push(`     ${file}: exit ${result.status}: ${result.stderr.trim().split('\n').at(-1)}`);
  return { document: JSON.parse(readFileSync(path, 'utf8')), seconds: result.seconds };
}

const metric = (document, id) => document.metrics.find((result) => result.id === id);
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

function native() {
  const { document, seconds } = run('native.json', []);
  const statuses = document.metrics.map(({ id, status, value }) => `${id} ${status} ${value}`).join(', ');
  verdict(
    'native run, all five metrics ok',
    document.metrics.length === 5 && document.metrics.every(({ status }) => status === 'ok'),
    statuses,
  );
  verdict('quick run under 10 s', seconds < 10, `${seconds.toFixed(1)} s`);
  verdict(
    'not simulated',
    document.gpu.every(({ simulated }) => !simulated),
    document.gpu.map(({ name }) => name).join(),
  );
}

/** The probe prints one "round trip p50 N" a block; both sides alternate, so that drift of the host hits them alike. */
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
      const { document } = run(`oh-001-${ours.length}.json`, ['OH-001', '--iterations', '2000']);
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

function hamiEnvironment(library, folder) {
  const path = resolve(library);
  return {
    LD_PRELOAD: path,
    CUDA_REDIRECT: path,
    CUDA_DEVICE_MEMORY_SHARED_CACHE: join(folder, 'cache'),
    CUDA_DEVICE_MEMORY_LIMIT: '10240m',
    GPU_CORE_UTILIZATION_POLICY: 'force',
    LIBCUDA_LOG_LEVEL: '0',
  };
}

function hami() {
  const folder = mkdtempSync(join(tmpdir(), 'gvb-'));
  try {
    const environment = hamiEnvironment(values.hami, folder);
    const doctor = start(tool, ['doctor'], environment);
    writeFileSync(join(out, 'hami-doctor.txt'), doctor.stdout);
    const { document } = run('hami.json', [], environment);
    const path = resolve(values.hami);
    const owned = (by) => document.provenance.filter(({ paths }) => paths[by] === path).length;
    verdict(
      'provenance names the layer on runtime and dlsym',
      owned('runtime') > 0 && owned('dlsym') > 0,
      `runtime ${owned('runtime')}, dlsym ${owned('dlsym')}, linked ${owned('linked')} functions`,
    );
    const functions = new Map(metric(document, 'OH-005').details.functions.map((row) => [row.name, row]));
    const overhead = (name) => functions.get(name).overheadNs;
    const within = (name, low, high) =>
      verdict(
        `${name} hooked − bare within ${low} … ${high} ns`,
        overhead(name) >= low && overhead(name) <= high,
        `${overhead(name).toFixed(1)} ns, ${JSON.stringify(functions.get(name).ci95)}`,
      );
    within('cuMemGetInfo_v2', 500, 1_300);
    within('cuLaunchKernel', 100, 500);
    const controls = [...functions.values()].filter(({ control }) => control);
    const worst = Math.max(...controls.map(({ overheadNs }) => Math.abs(overheadNs)));
    verdict(
      'never-hooked controls within ±5 ns',
      controls.length > 0 && worst <= 5,
      `worst ${worst.toFixed(2)} ns of ${controls.length}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function crippled() {
  const folder = mkdtempSync(join(tmpdir(), 'gvb-'));
  try {
    const { document } = run('hami-crippled.json', ['OH-005'], hamiEnvironment(values.crippled, folder));
    const { layer } = document.system;
    verdict(
      'the layer that exports only dlsym is said to hook nothing',
      layer?.active === false && document.warnings.some((warning) => /hooks no/.test(warning)),
      `exports ${layer?.exports}, active ${layer?.active}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function systemsCompared() {
  const library = resolve(values.hami);
  const systems = [
    'native',
    `hami-core:library=${library},memory=10GiB`,
    `hami-core:name=hami-50,library=${library},memory=10GiB,sm=50`,
  ];
  const args = systems.flatMap((system) => ['--system', system]);
  const file = join(out, 'comparison.json');
  const directory = mkdtempSync(join(tmpdir(), 'gvb-'));
  const result = start(tool, ['compare', ...args, '--rounds', '3', '--output', directory, '--json', file]);
  rmSync(directory, { recursive: true, force: true });
  writeFileSync(join(out, 'comparison.txt'), `${result.stdout}\n${result.stderr}`);
  verdict(
    'compare native, HAMi-core without and with an SM limit attests',
    result.status === 0,
    `exit ${result.status}, ${result.seconds.toFixed(0)} s`,
  );
  const { systems: documents } = JSON.parse(readFileSync(file, 'utf8'));
  const steps = (document) => document.metrics.find(({ id }) => id === 'OH-004').details.steps;
  const init = (index) => median(documents[index].map((d) => steps(d).find(({ step }) => step === 'init').valueUs));
  const ratio = init(1) / init(0);
  verdict('cuInit under HAMi-core is 2 to 4 times native', ratio >= 2 && ratio <= 4, `ratio ${ratio.toFixed(2)}`);
}

function crippledCompared() {
  const directory = mkdtempSync(join(tmpdir(), 'gvb-'));
  const system = `hami-core:library=${resolve(values.crippled)},memory=10GiB`;
  const result = start(tool, [
    'compare',
    'OH-005',
    '--rounds',
    '1',
    '--system',
    'native',
    '--system',
    system,
    '--output',
    directory,
  ]);
  rmSync(directory, { recursive: true, force: true });
  writeFileSync(join(out, 'comparison-crippled.txt'), `${result.stdout}\n${result.stderr}`);
  verdict(
    'compare refuses the layer that exports only dlsym with exit 5',
    result.status === 5,
    `exit ${result.status}`,
  );
}

function calibrated() {
  const result = start(tool, ['calibrate', '--json', join(out, 'calibration.json')]);
  writeFileSync(join(out, 'calibration.txt'), `${result.stdout}\n${result.stderr}`);
  verdict('calibrate recovers every truth', result.status === 0, `exit ${result.status}`);
}

for (const [wanted, step] of [
  [true, native],
  [true, calibrated],
  [values.probe, probe],
  [values.hami, hami],
  [values.crippled, crippled],
  [values.hami, systemsCompared],
  [values.crippled, crippledCompared],
]) {
  if (!wanted) continue;
  try {
    step();
  } catch (error) {
    verdict(step.name, false, String(error));
  }
}
function subject() {
  try {
    const { driver, gpu, tool: version } = JSON.parse(readFileSync(join(out, 'native.json'), 'utf8'));
    return `${gpu[0].name}, driver ${driver.version}, gpu-virt-bench ${version.version}`;
  } catch (error) {
    return `no native document: ${error.message}`;
  }
}

const header = `${new Date().toISOString()}  ${subject()}\nnode bench/real-gpu.js ${process.argv.slice(2).join(' ')}\n`;
writeFileSync(join(out, 'summary.txt'), `${header}\n${lines.join('\n')}\n`);
console.log(lines.join('\n'));
process.exitCode = failed ? 1 : 0;
