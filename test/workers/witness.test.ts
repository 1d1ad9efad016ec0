/** The library that is preloaded into every process of a program: what it writes, and that the program does not notice it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { witnessLibrary } from '../../lib/native/load.js';
import { witnessOf } from '../../lib/workloads/witness.js';
import { temporaryFolder } from '../temporary.js';

// Loads a library, forbids itself all but a few system calls, and ends; as its arguments ask.
const SOURCE = `
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

async function witnessed(command: readonly string[]) {
  const witness = await witnessOf(witnessLibrary());
  if (!witness) throw new Error('The witness is not built.');
  try {
    const [file = '', ...words] = command;
    const { status, signal, stdout, stderr } = spawnSync(file, words, {
      env: witness.variables({ PATH: process.env.PATH }),
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

  it('sees a program with a small stack', async () => {
    const { seen } = await witnessed(shell('-s 16'));
    expect(seen.flatMap(({ files }) => files)).toContain(program);
  });
});
