/**
 * The library that is preloaded into every process of a program: what it writes, who it finds to own the driver's functions
 * there, and that the program does not notice it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { interposerLibrary, simulatedDriverFolder, witnessLibrary } from '../../lib/native/load.js';
import { escapeIn, interceptedIn } from '../../lib/workloads/proof/driver-owners.js';
import { witnessOf } from '../../lib/workloads/proof/witness.js';
import { temporaryFolder } from '../temporary.js';

// Loads a library, in a link namespace of its own after "apart", forbids itself all but a few system calls, and ends; as
// its arguments ask.
const SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int forbid(void) {
  struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), ALLOW(SYS_write), ALLOW(SYS_exit_group),
                                ALLOW(SYS_wait4), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char** words) {
  if (errno != 0) return 4;
  for (int i = 1; i < count; ++i) {
    if (strcmp(words[i], "fork") == 0) {
      int status = 0;
      if (fork() != 0) return wait4(-1, &status, 0, 0) < 0 || status != 0;
    } else if (strcmp(words[i], "seccomp") == 0) {
      if (forbid()) return 5;
    } else if (strcmp(words[i], "apart") == 0) {
      if (!dlmopen(LM_ID_NEWLM, words[++i], RTLD_NOW)) return 6;
    } else if (strcmp(words[i], "_exit") == 0) {
      write(1, "done", 4);
      _exit(0);
    } else if (!dlopen(words[i], RTLD_NOW)) {
      return 3;
    }
  }
  write(1, "done", 4);
  return 0;
}
`;

let program = '';
let library = '';
beforeAll(() => {
  const folder = temporaryFolder('witnessed');
  program = join(folder, 'witnessed');
  library = join(folder, 'late.so');
  writeFileSync(join(folder, 'main.c'), SOURCE);
  writeFileSync(join(folder, 'late.c'), 'int late;\n');
  execFileSync('cc', ['-o', program, join(folder, 'main.c'), '-ldl']);
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, join(folder, 'late.c')]);
});

async function witnessed(command: readonly string[], variables: NodeJS.ProcessEnv = {}) {
  const witness = await witnessOf(witnessLibrary());
  if (!witness) throw new Error('The witness is not built.');
  try {
    const [file = '', ...words] = command;
    const { status, signal, stdout, stderr } = spawnSync(file, words, {
      // A long environment would take the small stack that some tests leave to the loader.
      env: witness.variables({ PATH: '/usr/bin:/bin', ...variables }),
      encoding: 'utf8',
    });
    return { ended: { status, signal, stdout, stderr }, seen: (await witness.seen()).processes };
  } finally {
    await witness.remove();
  }
}

const asWithoutIt = { status: 0, signal: null, stdout: 'done', stderr: '' };
const shell = (limit: string) => ['sh', '-c', `ulimit ${limit} && exec "$0"`, program];

describe('the witness', () => {
  it('writes which files were mapped at the start, and which libraries were loaded at the exit', async () => {
    const { ended, seen } = await witnessed([program, library]);
    expect(ended).toEqual(asWithoutIt);
    expect(seen).toMatchObject([{ name: 'witnessed', isElsewhere: false }]);
    expect(seen[0]?.files).toEqual(expect.arrayContaining([program, library]));
  });

  it('writes what a forked child loaded', async () => {
    const { ended, seen } = await witnessed([program, 'fork', library]);
    expect(ended).toEqual(asWithoutIt);
    expect(seen.flatMap(({ files }) => files)).toContain(library);
  });

  it('writes what was loaded into another link namespace', async () => {
    const { ended, seen } = await witnessed([program, 'apart', library]);
    expect(ended).toEqual(asWithoutIt);
    expect(seen.flatMap(({ files }) => files)).toContain(library);
  });

  it.each([[['seccomp']], [['fork', 'seccomp']]])('is not noticed under seccomp: %j', async (words) => {
    const { ended, seen } = await witnessed([program, library, ...words]);
    expect(ended).toEqual(asWithoutIt);
    expect(seen.flatMap(({ files }) => files)).toContain(library);
  });

  it.each(['-f 0', '-f 1', '-s 16'])('is not noticed under ulimit %s', async (limit) => {
    expect((await witnessed(shell(limit))).ended).toEqual(asWithoutIt);
  });

  it('says how many records it has not read', async () => {
    const witness = await witnessOf(witnessLibrary());
    const folder = witness?.variables({}).GVB_WITNESS as string;
    for (let pid = 1; pid <= 4_003; pid++) writeFileSync(join(folder, `${pid}-1.maps`), '');
    expect((await witness?.seen())?.unread).toBe(3);
    await witness?.remove();
  });

  it.each([
    [
      'the folder is gone',
      (folder: string) => rmSync(folder, { recursive: true }),
      /^the folder of the records of its /,
    ],
    [
      'a record is a pipe',
      (folder: string) => execFileSync('mkfifo', [join(folder, '1-1.maps')]),
      /^the record 1-1\.maps of a process cannot be read: it is not a regular file$/,
    ],
    [
      'a record is a link',
      (folder: string) => symlinkSync('/proc/self/maps', join(folder, '1-1.maps')),
      /^the record 1-1\.maps of a process cannot be read: it is a symbolic link/,
    ],
  ] as const)('says what it could not read where %s', async (_, spoil, why) => {
    const witness = await witnessOf(witnessLibrary());
    spoil(witness?.variables({}).GVB_WITNESS as string);
    expect(await witness?.seen()).toEqual({ processes: [], unread: 0, failed: expect.stringMatching(why) });
    await witness?.remove();
  });

  it('sees a program with a small stack', async () => {
    const { seen } = await witnessed(shell('-s 16'));
    expect(seen.flatMap(({ files }) => files)).toContain(program);
  });
});

const driver = `${simulatedDriverFolder()}/libcuda.so.1`;
const layer = interposerLibrary() as string;
const intercepting = { LD_PRELOAD: layer, GVB_INTERPOSE: 'cuLaunchKernel=+1us' };
/** What the interposer intercepts in a worker. */
const inWorker = {
  byPath: { runtime: ['cuLaunchKernel'], dlsym: ['cuLaunchKernel'], linked: ['cuInit', 'cuLaunchKernel'] },
};
const compiled = (name: string, source: string, ...flags: string[]): string => {
  const folder = temporaryFolder(name);
  writeFileSync(join(folder, 'source.c'), source);
  const file = join(folder, `${name}.so`);
  execFileSync('cc', ['-shared', '-fPIC', '-w', ...flags, '-o', file, join(folder, 'source.c'), '-ldl']);
  return file;
};

describe('the owners of the driver in a program', () => {
  const ownersIn = async (words: readonly string[], variables: NodeJS.ProcessEnv = {}) => {
    const { ended, seen } = await witnessed([program, ...words], variables);
    expect(ended).toEqual(asWithoutIt);
    return seen[0]?.owners;
  };

  it('are not looked at without a driver, nor where the program ends by _exit', async () => {
    expect(await ownersIn([library])).toBeNull();
    expect(await ownersIn([driver, '_exit'])).toBeNull();
  });

  it.each([[[]], [['seccomp']], [['fork', 'seccomp']]])('are the driver alone natively: %j', async (words) => {
    const owners = await ownersIn([driver, ...words]);
    expect(owners?.looked.runtime).toBeGreaterThan(100);
    expect(owners).toMatchObject({ owned: { runtime: [], dlsym: [], linked: [] }, patched: [] });
    expect(owners && interceptedIn(owners)).toBeNull();
    expect(owners && escapeIn(owners, inWorker)).toMatch(/^cuLaunchKernel on the path runtime is the driver's own/);
  });

  it('are looked at by little stack', async () => {
    const { ended, seen } = await witnessed(['sh', '-c', 'ulimit -s 64 && exec "$0" "$1"', program, driver]);
    expect(ended).toEqual(asWithoutIt);
    expect(seen.find(({ files }) => files.includes(driver))?.owners?.looked.dlsym).toBeGreaterThan(100);
  });

  it('include the layer on the paths that it hooks', async () => {
    const all = await ownersIn([driver], intercepting);
    expect(all?.owned.runtime).toEqual([{ owner: layer, functions: ['cuLaunchKernel'] }]);
    expect(all && escapeIn(all, inWorker)).toBeNull();
    const exports = { ...intercepting, GVB_INTERPOSE: 'cuLaunchKernel=+1us,hooks=export' };
    const some = await ownersIn([driver], exports);
    expect(some?.owned).toMatchObject({ runtime: [], dlsym: [] });
    expect(some && escapeIn(some, inWorker)).toMatch(/^cuLaunchKernel on the path runtime/);
  });

  it('are told by address where the code is in memory without a file', async () => {
    const hiding = compiled(
      'hiding',
      `#define _GNU_SOURCE
      #include <dlfcn.h>
      #include <string.h>
      #include <sys/mman.h>
      static void *copied(void *to) {
        unsigned char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(code, "\\x48\\xb8", 2);
        memcpy(code + 2, &to, 8);
        memcpy(code + 10, "\\xff\\xe0", 2);
        return code;
      }
      void *dlsym(void *handle, const char *name) {
        static void *(*own)(void *, const char *);
        if (!own) own = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        void *found = own(handle, name);
        return found && strcmp(name, "cuLaunchKernel") == 0 ? copied(found) : found;
      }`,
    );
    const owners = await ownersIn([driver], { LD_PRELOAD: hiding });
    expect(owners && interceptedIn(owners)).toBe(
      'cuLaunchKernel on the path dlsym is in memory without a file, not in the driver',
    );
  });

  it('include a layer that patches the code of the driver', async () => {
    const fixture = fileURLToPath(new URL('../native/fixtures/patching.c', import.meta.url));
    const patching = compiled('patching', readFileSync(fixture, 'utf8'), `-I${dirname(fixture)}`);
    const owners = await ownersIn([driver], { LD_PRELOAD: patching, LD_LIBRARY_PATH: dirname(driver) });
    expect(owners?.patched).toMatchObject([{ owner: patching }]);
  });
});
