// Builds the prebuilds for arm64 and uses the packed package with an emulated processor (qemu-user): the binding, a
// command with its worker processes, programs and preloaded libraries, and the native tests of what depends on the
// processor. Needs g++-aarch64-linux-gnu and qemu-user (.ci/run installs them), dist/, and a registry for Node.
//   node scripts/check-arm64.js
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { otherNode } from './other-nodes.js';
import { fail, pack, root, run, temporaryFolder } from './packed.js';

const TOOLS = 'aarch64-linux-gnu';
const SYSTEM = `/usr/${TOOLS}`;
const folder = temporaryFolder('gvb-arm64-');
const started = performance.now();

function say(text) {
  console.log(`${text} (after ${((performance.now() - started) / 1_000).toFixed(0)} s)`);
}

/** What an arm64 program prints. The variables are those of that program, not of the emulator. */
function emulated(args, variables = {}, { allowed = [0] } = {}) {
  const set = Object.entries(variables).flatMap(([name, value]) => ['-E', `${name}=${value}`]);
  const { status, stdout, stderr, error } = spawnSync('qemu-aarch64', ['-L', SYSTEM, ...set, ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (!allowed.includes(status)) fail(`${args.join(' ')}: exit code ${status}\n${error?.message ?? stdout + stderr}`);
  return stdout;
}

run('npm', ['run', 'prebuild', '--', '--arch=arm64'], root);
say('prebuilds/linux-arm64');
console.log(run(process.execPath, ['scripts/glibc-floor.js'], root).trim());

run('tar', ['-xzf', pack(folder).tarball], folder);
const installed = join(folder, 'package');
symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
const prebuilt = join(installed, 'prebuilds/linux-arm64');
const dist = join(installed, 'dist');
const node = otherNode('20', 'arm64', folder);

say(emulated([node, join(root, 'scripts/arm64/binding.mjs'), dist]).trim());

// This kernel starts no arm64 program, so a script starts the workers.
const launcher = join(folder, 'node');
writeFileSync(launcher, `#!/bin/sh\nexec qemu-aarch64 -L ${SYSTEM} '${node}' "$@"\n`, { mode: 0o755 });
const launching = join(folder, 'launching.mjs');
writeFileSync(launching, `process.execPath = ${JSON.stringify(launcher)};\n`);
const command = [node, '--import', pathToFileURL(launching).href, join(dist, 'cli/main.js')];
// 1: the metric is invalid, because the clock of an emulated processor is not exact enough for every reading.
emulated([...command, 'run', 'OH-002', '--simulate', '--json', 'run.json'], {}, { allowed: [0, 1] });
const { host, metrics } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
const [{ id, status, reason }] = metrics;
if (
  host.arch !== 'arm64' ||
  id !== 'OH-002' ||
  (status !== 'ok' && !`${status}: ${reason}`.startsWith('invalid: the clock'))
)
  fail(`Expected OH-002 on arm64 but received ${id} on ${host.arch}, ${status}: ${reason}`);
say(`run OH-002 --simulate: ${status}`);

const probes = emulated([join(prebuilt, 'probe/gvb-probe'), 'list']);
if (!probes.includes('"gvb":"probe"')) fail(`Expected gvb-probe to list its probes but received ${probes}`);
emulated([join(prebuilt, 'keeper/gvb-keeper')], {}, { allowed: [2] });
const provenance = (library, variables) =>
  emulated([node, join(root, 'scripts/arm64/provenance.mjs'), dist], { LD_PRELOAD: library, ...variables });
const interposer = join(prebuilt, 'interpose/libgvb-interpose.so');
const owners = provenance(interposer, { GVB_INTERPOSE: 'cuCtxGetDevice=+100ns' });
if (owners.trim() !== 'cuCtxGetDevice') fail(`Expected cuCtxGetDevice to be intercepted but received ${owners}`);
const counts = join(folder, 'counts');
mkdirSync(counts);
provenance(join(prebuilt, 'interpose/libgvb-count.so'), { GVB_COUNT_FOLDER: counts });
const counted = readdirSync(counts).map((file) => readFileSync(join(counts, file), 'latin1'));
if (!counted.some((text) => text.includes('cuInit'))) fail('Expected libgvb-count.so to count cuInit.');
say('probe, keeper, interposer and counter');

// Those that start no program: code that reads or writes instructions, threads, the simulated driver.
const release = join(root, 'build-arm64/build/Release');
const tests = {
  jump_test: [],
  executor_test: ['addon/executor.cpp', 'addon/turn.cpp'],
  load_test: [],
  hidden_test: [],
};
for (const [name, others] of Object.entries(tests)) {
  const sources = [`test/${name}.cpp`, ...others].map((file) => join(root, 'native', file));
  const archives = ['measuring.a', 'references.a', 'driver.a', 'base.a'].map((file) => join(release, file));
  // As far from native/kernels/ptx as the addon.
  const test = join(release, name);
  const flags = ['-std=c++17', '-O1', '-fPIC', '-I', join(root, 'native')];
  run(`${TOOLS}-g++`, [...flags, ...sources, ...archives, '-o', test, '-ldl', '-lpthread', '-lrt'], folder);
  emulated([test], { LD_LIBRARY_PATH: join(release, 'sim'), GVB_SIM: `region=arm64-${process.pid}-${name}` });
}
say(Object.keys(tests).join(', '));
