/** The one file of types in the package: it compiles on its own, and says what the sources say. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyFolder, root } from '../cli/command.js';
import { WAIT_MS } from '../limits.js';

const compilerOf = (version: 5 | 7): string =>
  join(root, 'node_modules', version === 5 ? 'typescript' : 'typescript7', 'bin/tsc');
const bundled = join(root, 'dist/index.d.ts');

/** What the compiler says of one file with these options. */
function compiled(source: string, options: object = {}, version: 5 | 7 = 7): string {
  const folder = emptyFolder();
  writeFileSync(join(folder, 'consumer.ts'), source);
  const typeRoots = [join(root, 'node_modules/@types')];
  const compilerOptions = { typeRoots, ...options };
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['consumer.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const { status, stdout } = spawnSync(process.execPath, [compilerOf(version), '-p', folder], {
    encoding: 'utf8',
    timeout: WAIT_MS,
  });
  return status === 0 ? '' : stdout;
}

/** The names of an export list, as users write them. */
const exported = (kind: 'export' | 'export type'): string[] =>
  (new RegExp(`^${kind} \\{([^}]*)\\};$`, 'm').exec(readFileSync(bundled, 'utf8'))?.[1] ?? '')
    .split(',')
    .map((name) => name.trim().replace(/^.* as /, ''))
    .filter((name) => name !== '');

const imports = `import * as built from '${join(root, 'dist/index.js')}';
import * as own from '${join(root, 'lib/index.js')}';
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const holds = <_Proof extends true>(): void => {};
`;

describe('the types of the package', () => {
  it('are those of the sources', () => {
    const [values, types] = [exported('export'), exported('export type')];
    expect(values.length).toBeGreaterThan(70);
    expect(types.length).toBeGreaterThan(100);
    const ofValues = values.map((name) => `holds<Same<typeof built.${name}, typeof own.${name}>>();\n`);
    const ofTypes = types.map((name) => `holds<Same<built.${name}, own.${name}>>();\n`);
    const names = `holds<Same<keyof typeof built, keyof typeof own>>();\n`;
    // The compiler sees a difference: the last line is wrong, and the only one.
    const wrong = `holds<Same<built.Stats, Omit<own.Stats, 'mean'>>>();\n`;
    const source = [imports, names, ...ofValues, ...ofTypes, wrong].join('');
    const errors = compiled(source)
      .split('\n')
      .filter((line) => /^\S/.test(line));
    expect(errors).toEqual([expect.stringContaining(`consumer.ts(${source.trimEnd().split('\n').length},`)]);
  });

  it.each([
    ['nodenext', 'nodenext', 5],
    ['nodenext', 'nodenext', 7],
    ['esnext', 'bundler', 5],
    ['esnext', 'bundler', 7],
  ] as const)(
    'compile by themselves for module %s, resolved like %s, by TypeScript %i',
    (module, moduleResolution, version) => {
      const source = `import { measureKernelLaunch, type MetricResult } from '${join(root, 'dist/index.js')}';
const result = await measureKernelLaunch({ simulate: true });
if (result.status === 'ok') {
  const [value, launches]: [number, number] = [result.value, result.details.calls.length];
  console.log(value, launches);
} else {
  const reason: string = result.reason;
  console.log(reason);
}
const any: MetricResult = result;
console.log(any.details);
`;
      expect(compiled(source, { module, moduleResolution, skipLibCheck: false }, version)).toBe('');
    },
  );

  it('name neither packages nor files, besides modules of Node', () => {
    // Examples in comments import the package.
    const code = readFileSync(bundled, 'utf8').replace(/\/\*\*.*?\*\//gs, '');
    const named = [...code.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)];
    expect(named.map(([, name]) => name).filter((name) => !name?.startsWith('node:'))).toEqual([]);
  });
});
