// Links the static child of gvb-probe, if a static C library is installed, which not every system has. The linker's
// warning that dlopen needs the same glibc at run time is expected; the probe reports if it does not work.
//   node scripts/static-child.js COMPILER SOURCE TARGET
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [compiler, source, target] = process.argv.slice(2);
const [program, ...flags] = compiler.split(' ');
const { status, stderr } = spawnSync(program, [...flags, '-static', '-O1', '-Wall', '-s', '-o', target, source], {
  encoding: 'utf8',
});
if (status !== 0) {
  console.log(`No statically linked probe: ${stderr.trim().split('\n').at(-1)}`);
  // The empty target is not executable, so the probe is left out; make still needs the file.
  writeFileSync(target, '', { mode: 0o644 });
}
