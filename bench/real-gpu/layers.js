// Part 6: two real preload layers and native at tier standard, and layers that hide. HAMi-core must measure as before.
// vgpu-manager initialises the driver when a function is looked up, so that its cuInit looks free: START-002 and OH-004
// must report it. A layer that patches code, and one that replaces libcuda, must be found.
import { resolve } from 'node:path';
import { command, compareWith, describe, lines, metric, systemsOf, values, verdict } from './evidence.js';

const MEMORY = 'memory=20GiB';

const systems = () => [
  'native',
  `hami-core:library=${resolve(values.hami)},${MEMORY},sm=50`,
  `vgpu-manager:library=${resolve(values.vgpu)},${MEMORY}`,
];

/** Reported if another object initialised the driver before the timed step. */
const DONE_BEFORE = /the driver was initialised before cuInit/;

function layers() {
  const args = ['overhead', 'start-up', ...systemsOf(systems())];
  const result = compareWith('compared-layers', args, { timeoutSeconds: 1_700 });
  const [native, hami, vgpu] = result.document().systems;
  lines.push(`     compare of three systems: ${result.seconds.toFixed(0)} s, exit ${result.status}`);
  for (const rounds of [native, hami, vgpu]) {
    const { name, attestation } = rounds[0].system;
    const failed = rounds.flatMap(({ system }) => system.attestation.filter(({ passed }) => !passed));
    verdict(`${name} attests`, attestation.length > 0 && failed.length === 0, `${attestation.length} proofs`);
    const bad = rounds.flatMap(({ metrics }) =>
      metrics.filter(({ status }) => status === 'failed' || status === 'invalid'),
    );
    const unexpected = name === 'vgpu-manager' ? bad.filter(({ reason }) => !DONE_BEFORE.test(reason)) : bad;
    const detail = [...new Set(unexpected.map(describe))].join('; ') || `${rounds.length} rounds`;
    verdict(`no metric of ${name} failed or is invalid for another reason`, unexpected.length === 0, detail);
  }
  for (const id of ['START-002', 'OH-004']) {
    const results = vgpu.map((document) => metric(document, id));
    verdict(
      `${id} of vgpu-manager is invalid and names the layer`,
      results.every(
        ({ status, reason, value }) =>
          status === 'invalid' && value === null && DONE_BEFORE.test(reason) && reason.includes('libvgpu-control'),
      ),
      [...new Set(results.map(describe))].join('; '),
    );
  }
  const cold = vgpu.map((document) => metric(document, 'START-001'));
  verdict(
    'START-001 of vgpu-manager has the whole',
    cold.every(({ status }) => status === 'ok'),
    cold.map(({ value }) => value?.toFixed(0)).join(' '),
  );
}

function hidden() {
  const library = resolve(values.patching);
  const doctor = command('patched-doctor', ['doctor'], { LD_PRELOAD: library });
  verdict(
    'doctor names the function that was patched and the owner of the jump',
    /cuLaunchKernel/.test(doctor.stdout) && doctor.stdout.includes(library),
    `exit ${doctor.status}`,
  );
  const run = command('patched-run', ['run', 'OH-001', '--json', '-'], { LD_PRELOAD: library });
  const { system } = JSON.parse(run.stdout);
  verdict('run names the patching layer as active', system.layer?.active === true, JSON.stringify(system.layer));
}

export const layered = [
  [values.hami && values.vgpu, layers],
  [values.patching, hidden],
];
