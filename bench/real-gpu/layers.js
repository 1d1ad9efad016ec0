// Part 6: two real preload layers beside native at tier standard, and layers that hide. HAMi-core must measure as before.
// vgpu-manager initialises the driver when a function is looked up, so that its cuInit looks free: START-002 and OH-004
// must say so. A layer that patches code, and one that replaces libcuda, must be found.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { command, compareWith, lines, metric, values, verdict } from './evidence.js';

const GIB_OF_TENANTS = 20;
/** Where vgpu-manager keeps its limits; the first process decides them. */
const STATE = '/etc/vgpu-manager/config/vgpu.config';

const systems = () => [
  { kind: 'native' },
  { kind: 'hami-core', library: resolve(values.hami), memory: `${GIB_OF_TENANTS}GiB`, sm: 50 },
  {
    kind: 'custom',
    name: 'vgpu-manager',
    env: {
      LD_PRELOAD: resolve(values.vgpu),
      MANAGER_VISIBLE_DEVICES: '{gpuUuid}',
      CUDA_MEM_LIMIT_0: `${GIB_OF_TENANTS}Gi`,
      LOGGER_LEVEL: '0',
    },
    stateFiles: [STATE],
    limits: { memory: `${GIB_OF_TENANTS}GiB` },
    verify: [
      { symbolOwner: { symbol: 'cuMemAlloc_v2', matches: 'libvgpu-control' } },
      { totalMemory: [`${GIB_OF_TENANTS}GiB`, `${GIB_OF_TENANTS}GiB`] },
    ],
  },
];

const describe = ({ id, status, reason }) => `${id} ${status}${reason ? `: ${reason}` : ''}`;

/** What another initialised before it was timed. */
const DONE_BEFORE = /the driver was initialised before cuInit/;

function layers() {
  const folder = mkdtempSync(join(tmpdir(), 'gvb-'));
  const config = join(folder, 'systems.yaml');
  writeFileSync(config, JSON.stringify({ systems: systems() }));
  const args = ['overhead', 'start-up', '--config', config];
  const result = compareWith('compared-layers', args, { timeoutSeconds: 1_700 });
  rmSync(folder, { recursive: true, force: true });
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
