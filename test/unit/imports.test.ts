/** Imports between the folders of lib/ go in one direction, so that each part can be read without those above it. */
import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, sourcesIn, textOf } from './source-files.js';

const files = sourcesIn('lib').filter((file) => file.endsWith('.ts'));

/** The folders from the top down, as HACKING.md draws them; those in one place may import each other. */
const levels = (/^cli → .*$/m.exec(textOf('HACKING.md'))?.[0] ?? '').split(' → ').map((level) => level.split(', '));

/** A file directly in lib/ is on a level of its own. */
function folderOf(file: string): string {
  const [, folder = '', ...rest] = file.split('/');
  if (rest.length > 0) return folder;
  return file === 'lib/package-root.ts' ? basename(file) : 'lib';
}

/** The first circle, as a path that ends where it begins; null if there is none. */
function circleIn(imports: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const next of imports.get(file) ?? []) {
      const found = visit(next, [...path, file]);
      if (found) return found;
    }
    done.add(file);
    return null;
  };
  for (const file of imports.keys()) {
    const found = visit(file, []);
    if (found) return found;
  }
  return null;
}

describe('the files of lib/', () => {
  it('have names that differ by more than an s', () => {
    const names = new Set(files.map((file) => basename(file, '.ts')));
    expect([...names].filter((name) => names.has(`${name}s`))).toEqual([]);
  });

  it('do not import themselves through others, nor do their types', () => {
    expect(circleIn(new Map(files.map((file) => [file, importsOf(file)])))).toBeNull();
  });

  it('would be found in a circle', () => {
    const imports = new Map([['a', ['b']], ['b', ['c', 'd']], ['c', []], ['d', ['b']]]); // prettier-ignore
    expect(circleIn(imports)).toEqual(['b', 'd', 'b']);
  });
});

/** More are too many to find one's way in. */
const MOST_FILES = 24;

describe('the folders of lib/', () => {
  it(`have at most ${MOST_FILES} files each`, () => {
    const sizes = new Map<string, number>();
    for (const file of files) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
    expect([...sizes].filter(([, size]) => size > MOST_FILES)).toEqual([]);
  });

  it('are all in the list', () => {
    expect([...new Set(files.map(folderOf))].sort()).toEqual(levels.flat().sort());
  });

  it('import nothing from above', () => {
    const level = (file: string) => levels.findIndex((names) => names.includes(folderOf(file)));
    const upward = files.flatMap((file) =>
      importsOf(file).flatMap((target) => (level(target) < level(file) ? [`${file} → ${target}`] : [])),
    );
    expect(upward).toEqual([]);
  });

  it('start processes through a launcher, except for those that must outlive the coordinator', () => {
    const starting = files.filter((file) => textOf(file).includes("'node:child_process'"));
    expect(starting).toEqual([
      // Checkpointed processes are ended, however the coordinator ended.
      'lib/checkpoint/checkpoint-guarding.ts',
      'lib/checkpoint/guarded-launcher.ts',
      // Containers are removed, however the coordinator ended.
      'lib/systems/kinds/container/container-guardian.ts',
      // The daemon quits after its clients, however the coordinator ended.
      'lib/systems/kinds/mps/mps-daemon.ts',
      'lib/systems/kinds/mps/mps-guardian.ts',
      // The scheduler ends, however the coordinator ended.
      'lib/systems/kinds/nvshare/nvshare-guardian.ts',
      // Pods are deleted, however the coordinator ended.
      'lib/systems/kinds/pod/pod-guardian.ts',
      // Starts those that remove containers, pods and cgroups.
      'lib/systems/process/clean-up-guardian.ts',
      // A user's program below a keeper, which ends it with all its processes.
      'lib/workers/kept-program.ts',
      'lib/workers/local.ts',
      'lib/workers/process-group.ts',
      // Looks at what was started.
      'lib/workers/with-streams.ts',
    ]);
  });
});
