import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { command, emptyFolder, parseComparison, parseDocument, root, warningsOf } from './command.js';

const folder = mkdtempSync(join(tmpdir(), 'gvb-layer-'));
const active = join(folder, 'libactive.so');
const idle = join(folder, 'libidle.so');
const fatal = join(folder, 'libfatal.so');
const crashing = join(folder, 'libcuda.so.1');
const interposer = join(root, 'build/Release/libgvb-interpose.so');
const few = ['run', 'OH-002', '--simulate', '--iterations', '50', '--json', '-'];

function compile(target: string, source: string): void {
  const file = `${target}.cpp`;
  writeFileSync(file, source);
  execFileSync('c++', ['-shared', '-fPIC', '-o', target, file]);
}

beforeAll(() => {
  compile(
    crashing,
    `#include <signal.h>
     __attribute__((constructor)) static void crash() { raise(SIGSEGV); }`,
  );
  // Preloaded, it is found first by programs linked with -lcuda, but not by those that search libcuda itself.
  compile(active, 'extern "C" int cuMemGetInfo_v2(unsigned long*, unsigned long*) { return 1; }');
  // Like HAMi-core built without its exports: loaded, but without effect.
  compile(idle, 'extern "C" int cuNoSuchFunction() { return 1; }');
  // Like a layer without its settings: it ends every worker, and prints its PID.
  compile(
    fatal,
    `#include <stdio.h>
     #include <string.h>
     #include <unistd.h>
     __attribute__((constructor)) static void end() {
       char line[4096] = {0};
       FILE* file = fopen("/proc/self/cmdline", "r");
       size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0;
       for (size_t i = 0; i < length; i++) if (line[i] == 0) line[i] = ' ';
       if (!strstr(line, "worker/main")) return;
       fprintf(stderr, "[%d] cannot find the host device\\n", getpid());
       _exit(7);
     }`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('under a layer', () => {
  it('names an active one by file, hash and exports', async () => {
    const { stdout, code } = await command(few, { LD_PRELOAD: active });
    const document = parseDocument(stdout);
    const { system, provenance, groundTruth } = document;
    const sha256 = createHash('sha256').update(readFileSync(active)).digest('hex');
    expect(system.layer).toEqual({ path: active, sha256, exports: 1, active: true });
    expect(provenance.filter(({ interposed }) => interposed.length > 0)).toEqual([
      expect.objectContaining({ interposed: ['linked'], paths: expect.objectContaining({ linked: active }) }),
    ]);
    expect({ groundTruth, warnings: warningsOf(document), code }).toEqual({
      groundTruth: 'nvml',
      warnings: [],
      code: 0,
    });
  });

  it('warns that a loaded layer hooks nothing', async () => {
    const { stdout, stderr } = await command(few, { LD_PRELOAD: idle });
    const document = parseDocument(stdout);
    expect(document.system.layer).toMatchObject({ path: idle, active: false });
    expect(warningsOf(document)).toEqual([
      expect.stringMatching(/libidle\.so is loaded but hooks no function of the driver/),
    ]);
    expect(stderr.match(/hooks no function of the driver/g)).toHaveLength(1);
  });

  it('is shown by doctor, with the paths on which it is missing', async () => {
    const { stdout } = await command(['doctor', '--json'], { LD_PRELOAD: active });
    const { interceptors, findings } = JSON.parse(stdout);
    expect(interceptors).toEqual([
      expect.objectContaining({
        owner: active,
        byPath: { runtime: [], dlsym: [], linked: [expect.stringMatching(/^cuMemGetInfo/)] },
      }),
    ]);
    for (const path of ['runtime', 'dlsym'])
      expect(findings).toContainEqual({
        severity: 'note',
        text: expect.stringMatching(
          new RegExp(`libactive\\.so intercepts cuMemGetInfo\\w* on linked but not on ${path}\\.$`),
        ),
        fix: null,
      });
  });

  it('is named by doctor if it ends its processes, with the driver found without it', async () => {
    const { stdout, code } = await command(['doctor'], { LD_PRELOAD: fatal });
    expect(code).toBe(1);
    expect(stdout).not.toMatch(/^Driver\s+none/m);
    expect(stdout).toMatch(/^Driver\s+.*libcuda\.so\.1 \(without LD_PRELOAD\)$/m);
    expect(stdout).toMatch(/^Preload\s+LD_PRELOAD: .*libfatal\.so \(its process ended\)$/m);
    expect(stdout).toMatch(/^error: The layer terminates its processes: .*cannot find the host device/m);
    expect(stdout).toMatch(/^ {2}fix: unset LD_PRELOAD$/m);
    expect(stdout).not.toMatch(/No interception/);
  });

  it('is named if it replaces libcuda and crashes on load, and nothing is simulated instead', async () => {
    const environment = { LD_LIBRARY_PATH: folder };
    const seen =
      /libcuda\.so\.1 cannot be loaded: the process that loaded it was killed by signal 11 \(Segmentation fault\)/;
    const doctor = await command(['doctor'], environment);
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(seen) });
    expect(doctor.stdout).toMatch(/^Driver\s+(unknown|.* \(without LD_LIBRARY_PATH\)$)/m);
    const run = await command(['run', 'OH-002'], environment);
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(seen) });
    const simulated = await command([...few, '--iterations', '10'], environment);
    expect(simulated.code).toBe(0);
  });

  it('is not taken for vgpu-manager by its file name', async () => {
    const library = join(folder, 'libvgpu-control.so');
    copyFileSync(interposer, library);
    const systems = ['--system', 'native', '--system', `vgpu-manager:library=${library},memory=10GiB,cores=50`];
    const plan = ['--simulate', '--tier', 'quick', '--iterations', '10', '--rounds', '1', '--json', '-'];
    const output = ['--output', join(emptyFolder(), 'out')];
    const { stdout, code } = await command(['compare', 'OH-002', ...plan, ...systems, ...output]);
    const round = parseComparison(stdout).systems[1]?.[0];
    expect({ code, metric: round?.metrics[0] }).toMatchObject({ code: 5, metric: { status: 'invalid', value: null } });
    expect(round?.metrics[0]?.reason).toMatch(/exported driver functions: \d+ exported names begin with cu, 500 are/);
    expect(round?.system.settings).toMatchObject({ CUDA_MEM_LIMIT_0: '10240Mi', CUDA_CORE_LIMIT_0: '50' });
    expect(existsSync('/etc/vgpu-manager')).toBe(false);
  });

  it('is one line of "Not measured" if it ends its processes, with any PIDs in their output', async () => {
    const quick = ['--simulate', '--tier', 'quick', '--iterations', '10', '--rounds', '2', '--seed', '1'];
    const systems = ['--system', 'native', '--system', `custom:name=fatal,env.LD_PRELOAD=${fatal}`];
    const output = ['--output', join(emptyFolder(), 'out')];
    const { stdout } = await command(['compare', 'OH-002', 'OH-003', 'OH-005', ...quick, ...systems, ...output]);
    const lines = stdout.split('\n').filter((line) => line.includes('cannot find the host device'));
    expect(lines).toEqual([
      expect.stringMatching(
        /^ {2}fatal \(unverified\), 3 metrics \(OH-002, OH-003, OH-005\): failed: .* \(in 2 of 2 rounds\)$/,
      ),
    ]);
  });
});
