// Links the statically linked child of gvb-probe, where the C library can be linked so: not every system has it installed.
// The linker's warning that dlopen needs the same glibc at run time is known: the probe says where it does not work.
//   node scripts/static-child.js COMPILER SOURCE TARGET
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [compiler, source, target] = process.argv.slice(2);
const [program, ...flags] = compiler.split(' ');
const { status, stderr } = spawnSync(
  program,
  [...flags, '-static', '-O1', '-Wall', '-Werror', '-s', '-o', target, source],
  {
    encoding: 'utf8',
  },
);
if (status !== 0) {
  console.log(`No statically linked probe: ${stderr.trim().split('\n').at(-1)}`);
  // Not executable: the probe is then left out, and make has what it waits for.
  writeFileSync(target, '', { mode: 0o644 });
}
