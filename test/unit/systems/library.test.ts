import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportedSymbols, parseElfHeader, unsuitable } from '../../../lib/systems/proof/elf.js';
import { mappedFiles } from '../../../lib/systems/proof/ld-preload.js';
import { checkLibrary } from '../../../lib/systems/process/library.js';
import { elfHeader, libraryFile, temporaryFolder } from './fixtures.js';

const folder = temporaryFolder();
const check = (path: string) => checkLibrary(path, 'library of hami-core', folder);
const refusal = (path: string, why: string) =>
  `Expected library of hami-core to be a shared library of this machine but received '${path}': ${why}.`;

describe('a library to preload', () => {
  it('is found from its folder, and through a link', () => {
    const path = libraryFile(folder);
    expect(check('libvgpu.so')).toBe(path);
    symlinkSync(path, join(folder, 'link.so'));
    expect(check('./link.so')).toBe(join(folder, 'link.so'));
  });

  it('is refused if it is missing', () =>
    expect(() => check('nowhere.so')).toThrow(refusal('nowhere.so', 'there is no such file')));

  it('is refused if it is a folder', () => {
    mkdirSync(join(folder, 'd.so'));
    expect(() => check('d.so')).toThrow(refusal('d.so', 'it is a directory'));
  });

  it('is refused if it is a pipe, without waiting for it', () => {
    execFileSync('mkfifo', [join(folder, 'p.so')]);
    expect(() => check('p.so')).toThrow(refusal('p.so', 'it is not a regular file'));
  });

  it.each([
    ['empty.so', Buffer.alloc(0), 'it is not an ELF file'],
    ['text.so', Buffer.from('#!/bin/sh\necho hello world\n'), 'it is not an ELF file'],
    ['program.so', elfHeader({ type: 2 }), 'it is not a shared object'],
  ])('is refused as %s', (name, bytes, why) => {
    libraryFile(folder, name, bytes);
    expect(() => check(name)).toThrow(refusal(name, why));
  });

  it('is refused for another machine', () => {
    const why = (header: Buffer) => unsuitable(parseElfHeader(header), 'x64');
    expect(why(elfHeader({ machine: 183 }))).toBe('it is built for arm64, this machine is x64');
    expect(why(elfHeader({ machine: 3, bits: 32 }))).toBe('it is built for x86, this machine is x64');
    expect(why(elfHeader({ machine: 62 }))).toBeNull();
  });

  it.each([
    ['a b.so', 'LD_PRELOAD separates paths at spaces'],
    ['a:b.so', 'LD_PRELOAD separates paths at colons'],
    ['$ORIGIN.so', 'LD_PRELOAD expands $'],
    ['${LIB}.so', 'LD_PRELOAD expands $'],
    ['a\n.so', 'the kernel lists a path with a line break as another one'],
  ])('is refused where it cannot be preloaded by its path: %j', (name, why) => {
    libraryFile(folder, name);
    expect(() => check(name)).toThrow(refusal(name, `${why}: give it another path (a copy will do)`));
  });

  it.each(['a,b.so', 'a;b.so', 'é日.so', 'a\tb.so', 'a\u00a0b.so', 'a%b\\c.so'])(
    'is taken where the loader takes its path: %j',
    (name) => expect(check(libraryFile(folder, name))).toBe(join(folder, name)),
  );
});

describe('exported symbols', () => {
  it('are read from a real library, without its imports', async () => {
    const libc = mappedFiles().find((file) => /^libc\.so|^libc-/.test(basename(file))) as string;
    const names = await exportedSymbols(libc);
    expect(names?.has('getenv')).toBe(true);
    expect(names?.has('_dl_argv')).toBe(false);
  });

  it('are null if the file is missing, and for sections beyond its end', async () => {
    const hostile = elfHeader();
    hostile.writeBigUInt64LE(2n ** 62n, 40);
    hostile.writeUInt16LE(64, 58);
    hostile.writeUInt16LE(65535, 60);
    writeFileSync(join(folder, 'hostile.so'), hostile);
    for (const name of ['nowhere.so', 'hostile.so', '.']) expect(await exportedSymbols(join(folder, name))).toBeNull();
  });
});
