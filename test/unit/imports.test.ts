/** Imports between the folders of lib/ go in one direction, so that each part can be read without those above it. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const lib = fileURLToPath(new URL('../../lib', import.meta.url));

/**
 * Folders from the bottom up; those in one line may import each other. Files directly in lib/ may import everything.
 */
const levels = [
  ['errors'],
  ['results', 'stats'],
  ['native'],
  ['config', 'environment'],
  ['load', 'monitor'],
  ['workers'],
  ['systems'],
  ['metrics'],
  ['answer'],
  ['worker', 'run'],
  ['costs'],
  ['saved'],
  ['workloads'],
  ['gate'],
  ['report'],
  ['cli'],
];

const folderOf = (path: string): string | null => {
  const [folder, ...rest] = relative(lib, path).split('/');
  return rest.length > 0 && folder !== undefined ? folder : null;
};

const files = readdirSync(lib, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join(lib, file));
const importsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    join(dirname(file), path),
  );

describe('the files of lib/', () => {
  it('have names that differ by more than an s', () => {
    const names = new Set(files.map((file) => basename(file, '.ts')));
    expect([...names].filter((name) => names.has(`${name}s`))).toEqual([]);
  });
});

describe('the folders of lib/', () => {
  it('are all in the list', () => {
    const there = new Set(files.flatMap((file) => folderOf(file) ?? []));
    expect([...there].sort()).toEqual(levels.flat().sort());
  });

  it('import nothing from above', () => {
    const level = (folder: string) => levels.findIndex((names) => names.includes(folder));
    const upward = files.flatMap((file) => {
      const from = folderOf(file);
      if (from === null) return [];
      return importsOf(file).flatMap((target) => {
        const to = folderOf(target);
        return to !== null && level(to) > level(from) ? [`${relative(lib, file)} → ${relative(lib, target)}`] : [];
      });
    });
    expect(upward).toEqual([]);
  });

  it('start processes through a launcher, except for those that must outlive the coordinator', () => {
    const starting = files.filter((file) => readFileSync(file, 'utf8').includes("'node:child_process'"));
    expect(starting.map((file) => relative(lib, file)).sort()).toEqual([
      // Containers are removed, however the coordinator ended.
      'systems/container/container-guardian.ts',
      'systems/container/container-guarding.ts',
      // The daemon quits after its clients, however the coordinator ended.
      'systems/mps-daemon.ts',
      'systems/mps-guardian.ts',
      // A user's program at the user's terminal.
      'workers/foreground.ts',
      // A user's program below a keeper, which ends it with all its processes.
      'workers/kept-program.ts',
      'workers/local.ts',
      'workers/process-group.ts',
    ]);
  });
});
