/** The scripts of fleets: as they are written, and what hostile names make of them. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../../lib/errors/usage-error.js';
import { type JobSettings, mergeScript, taskScript } from '../../../../lib/fleet/slurm/job-script.js';
import { shellWord } from '../../../../lib/fleet/slurm/words.js';
import { temporaryFolder } from '../../../temporary.js';

const settings: JobSettings = {
  folder: '/shared/fleet',
  id: '2026-01-01-0123abcd',
  version: '0.1.0',
  tool: ['/opt/node', '/opt/gvb/dist/cli/main.js'],
  mergeTool: ['/opt/node', '/opt/gvb/dist/cli/main.js'],
  isShared: false,
  gres: 'gpu:1',
  options: { partition: 'gpu', account: 'lab', time: '00:30:00' },
  further: ['--constraint=h100&nvlink', '--mail-type=NONE'],
  environment: {},
  container: null,
};

const image = { ...settings, tool: ['gpu-virt-bench'], environment: { HF_HOME: "/data/it's here" } };

describe('the scripts of a fleet', () => {
  it.each([
    ['task', taskScript(settings)],
    ['merge', mergeScript(settings)],
    ['shared', taskScript({ ...settings, isShared: true, gres: 'gpu:h100:1', options: {}, further: [] })],
    ['pyxis', taskScript({ ...image, container: { runtime: 'pyxis', image: 'docker://lab/gvb:1' } })],
    ['apptainer', taskScript({ ...image, container: { runtime: 'apptainer', image: '/images/gvb 1.sif' } })],
  ])('%s', async (name, script) => {
    await expect(script).toMatchFileSnapshot(`../../../golden/slurm-${name}.sh`);
  });

  it('put no layer into a job, and no variable that is not named', () => {
    for (const name of ['LD_PRELOAD', 'LD_AUDIT', 'CUDA_INJECTION64_PATH'])
      expect(() => taskScript({ ...settings, environment: { [name]: '/opt/libvgpu.so' } })).toThrow(
        /but received .*: name the layer as a system/,
      );
    for (const script of [taskScript(settings), mergeScript(settings)]) {
      expect(script.split('\n')).toContain('#SBATCH --export=NONE');
      expect(script.split('\n')).toContain('unset LD_PRELOAD LD_AUDIT');
      expect(script).not.toMatch(/^export /m);
    }
  });

  it.each<[string, Partial<JobSettings>]>([
    ['a name of a variable', { environment: { 'A;reboot': '1' } }],
    ['an option that it sets itself', { further: ['--export=ALL'] }],
    ['a short option', { further: ['-J'] }],
    ['an option with a second line', { further: ['--comment=a\n#SBATCH --export=ALL'] }],
    ['a partition with a second line', { options: { partition: 'gpu\nreboot' } }],
    ['an account that is an option', { options: { account: '--export=ALL' } }],
    ['a comment', { gres: 'gpu:1 #' }],
    ['an image that is an option', { container: { runtime: 'pyxis', image: '--export=ALL' } }],
    ['an image with a second line', { container: { runtime: 'apptainer', image: 'a\nreboot' } }],
    ['another runtime', { container: { runtime: 'docker', image: 'a' } }],
    ['a folder that is a pattern', { folder: '/shared/%u' }],
    ['a folder with a space', { folder: '/shared/my fleet' }],
    ['a folder that is mounted elsewhere', { folder: '/a:/b', container: { runtime: 'pyxis', image: 'a' } }],
  ])('refuse %s', (_, change) => {
    expect(() => taskScript({ ...settings, ...change })).toThrow(UsageError);
  });
});

const hostile = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: fc.constantFrom(...'\'"`$(){};&|<>\\#!*?~ -=\n\t%,:/a'), maxLength: 30 }),
  fc.constantFrom("'; reboot; '", '$(reboot)', '`reboot`', '-rf', '--export=ALL', 'a\'b"c', '\\', '!!', '~root', '*'),
);

/** Null if it is refused. */
function written(make: () => string): string | null {
  try {
    return make();
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

describe('hostile names', () => {
  it('reach a shell as they are, or are refused', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 50, maxLength: 50 }), (texts) => {
        const words = texts.flatMap((text) => {
          const word = written(() => shellWord(text, 'a word'));
          return word === null ? [] : [{ text, word }];
        });
        // Sees each word twice: as an argument, and as the value of a variable.
        const script = words.map(({ word }) => `printf '%s\\0' ${word}\nV=${word}\nprintf '%s\\0' "$V"\n`).join('');
        const seen = execFileSync('sh', { input: script, encoding: 'utf8' }).split('\0').slice(0, -1);
        expect(seen).toEqual(words.flatMap(({ text }) => [text, text]));
      }),
      { numRuns: 100 },
    );
  });

  it('change nothing of a script but their own place', () => {
    const folder = temporaryFolder('stubs');
    mkdirSync(join(folder, 'bin'));
    for (const name of ['srun', 'apptainer', 'tool']) {
      writeFileSync(join(folder, 'bin', name), '#!/bin/sh\nprintf "%s\\0" "$NAMED" "$@"\n');
      chmodSync(join(folder, 'bin', name), 0o755);
    }
    const change = fc.record({
      partition: hostile,
      gres: hostile,
      further: hostile,
      value: hostile,
      image: hostile,
      runtime: fc.constantFrom('pyxis', 'apptainer'),
    });
    let ran = 0;
    fc.assert(
      fc.property(
        change,
        fc.integer({ min: 0, max: 4 }),
        ({ partition, gres, further, value, image: named, runtime }, one) => {
          // One hostile value at a time: of several, one would be refused.
          const take = <T>(place: number, text: T, harmless: T): T => (place === one ? text : harmless);
          const given = { value: take(3, value, 'v'), image: take(4, named, 'image') };
          const script = written(() =>
            taskScript({
              ...settings,
              tool: ['tool'],
              gres: take(1, gres, 'gpu:1'),
              options: { partition: take(0, partition, 'gpu') },
              further: [`--comment=${take(2, further, 'c')}`],
              environment: { NAMED: given.value },
              container: { runtime, image: given.image },
            }),
          );
          if (script === null) return;
          ran++;
          const lines = script.split('\n');
          expect(lines.filter((line) => line.startsWith('#SBATCH'))).toHaveLength(10);
          for (const line of lines.filter((each) => each.startsWith('#SBATCH')))
            expect(line).toMatch(/^#SBATCH --\S+$/);
          const env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` };
          const seen = execFileSync('sh', ['-s', '7'], { input: script, env, encoding: 'utf8' }).split('\0');
          const mount = '/shared/fleet:/shared/fleet';
          const before =
            runtime === 'pyxis'
              ? ['--export=ALL', `--container-image=${given.image}`, `--container-mounts=${mount}`]
              : ['exec', '--nv', '--bind', mount, given.image];
          const command = ['tool', 'fleet', 'node', '--plan', '/shared/fleet', '--index', '7', ''];
          expect(seen).toEqual([given.value, ...before, ...command]);
        },
      ),
      { numRuns: 500 },
    );
    expect(ran).toBeGreaterThan(50);
  });
});
