/** Small programs that use the simulated GPU beside each other, as arguments of a command. */
import { join } from 'node:path';
import { simulatedDriverFolder } from '../lib/native/load.js';
import { packageRoot } from '../lib/package-root.js';

const addon = join(packageRoot, 'build/Release/gpu_virt_bench.node');

/** A program with a context on the GPU from when it runs `script`, in which `addon` and the session `id` are known. */
export const onGpu = (script: string): string[] => [
  process.execPath,
  '-e',
  `const addon = require(${JSON.stringify(addon)}); const fs = require('fs');
   const exit = (code) => process.exit(code);
   const when = (file, then) => fs.existsSync(file) ? then() : setTimeout(() => when(file, then), 5);
   const target = { simulatedDriver: ${JSON.stringify(simulatedDriverFolder())}, device: null, path: 'runtime' };
   addon.openSession(target).then(async (id) => { ${script} });`,
];

/** Runs until it is ended. */
export const holdGpu = onGpu('setInterval(() => {}, 1000);');

/** Kernels for some time; prints how long one takes of the device's time, in us. */
export const loadGpu = onGpu(`
  const load = await addon.load(id, { call: 'cuLaunchKernel', nodes: 1, blocksPerMultiprocessor: 2, blocks: 0,
    threadsPerBlock: 256, rounds: 4000, kernelNs: 1e6, inFlight: 4, startAtNs: addon.now(), durationNs: 200e6,
    binNs: 50e6, gapNs: 50000, mostListed: 1, partition: 0 });
  console.log(JSON.stringify({ us: (load.endedNs - load.startedNs) / load.kernels / 1e3 }));
  exit(0);`);
