/** The program of native/test/count_program.cpp, which makes known numbers of calls, linked with the simulated driver. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simulatedDriverFolder } from '../../lib/native/load.js';
import { temporaryFolder } from '../temporary.js';

const native = fileURLToPath(new URL('../../native', import.meta.url));
export const driverFolder = simulatedDriverFolder() ?? '/the-simulated-driver-is-not-built';

export function countedProgram(): string {
  const folder = temporaryFolder('counted');
  const main = join(folder, 'main.cpp');
  const program = join(folder, 'counted');
  writeFileSync(
    main,
    '#include "test/count_program.h"\nint main(int, char** argv) { return test::make_calls(argv[1]); }\n',
  );
  const sources = [main, join(native, 'test/count_program.cpp')];
  const libraries = [join(driverFolder, 'libcuda.so.1'), `-Wl,-rpath,${driverFolder}`, '-ldl', '-lpthread'];
  execFileSync('c++', ['-std=c++17', '-I', native, '-o', program, ...sources, ...libraries]);
  return program;
}
