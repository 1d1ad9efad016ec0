// Six kinds of GPU work, each of some seconds at most: node gpu-task.mjs TASK prints one line of JSON.
// A program of your own takes its place; this one needs nothing but this package.
import {
  listDevices,
  measureAttention,
  measureKernelLaunch,
  measureMemoryAllocation,
  measureMixedPrecision,
  measurePipeline,
  measureTokenLatency,
} from 'gpu-virt-bench';

const tasks = {
  'short-compute': (options) => measureAttention(options),
  'long-compute': (options) => measureMixedPrecision({ ...options, iterations: 20, warmup: 2 }),
  memory: (options) => measureMemoryAllocation({ ...options, iterations: 200, warmup: 10 }),
  transfer: (options) => measurePipeline({ ...options, iterations: 30, warmup: 3 }),
  inference: (options) => measureTokenLatency({ ...options, workload: 'T1' }),
  // The wall time of this one is that of a start: driver, context, module, first kernel.
  'cold-start': (options) => measureKernelLaunch({ ...options, iterations: 1, warmup: 0 }),
};

const [name = ''] = process.argv.slice(2);
const task = Object.hasOwn(tasks, name) ? tasks[name] : null;
if (task === null) {
  console.error(`Expected one of ${Object.keys(tasks).join(', ')} but received '${name}'.`);
  process.exit(2);
}
// Under exec --simulate it finds the simulated GPU, which gets less to do.
const simulate = (await listDevices()).some(({ simulated }) => simulated);
const { status, reason, value, unit } = await task({ simulate });
if (value === null) {
  console.error(`${name} is ${status}: ${reason}`);
  process.exit(1);
}
console.log(JSON.stringify({ task: name, value, unit }));
