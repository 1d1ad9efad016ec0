// Works on the GPU step by step, and prints a line after each, until it is stopped: node gpu-steps.mjs
// A program of your own takes its place; this one needs nothing but this package.
import { listDevices, measureKernelLaunch } from 'gpu-virt-bench';

const simulate = (await listDevices()).some(({ simulated }) => simulated);
for (let step = 1; ; step++) {
  const result = await measureKernelLaunch({ simulate, iterations: 10, warmup: 1 });
  if (result.value === null) {
    console.error(`step ${step} is ${result.status}: ${result.reason}`);
    process.exit(1);
  }
  console.log(`step ${step}`);
}
