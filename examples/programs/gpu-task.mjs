// Six kinds of GPU work, each of some seconds at most: node gpu-task.mjs TASK [TIMES] does one, once or several times, and
// prints one line of JSON.
// A program of your own takes its place; this one needs nothing but this package.
import {
  listDevices,
  measureAttention,
  measureKernelLaunch,
  measureMemoryAllocation,
  measureMixedPrecision,
  measureMultiStream,
  measureTokenGeneration,
} from 'gpu-virt-bench';

const tasks = {
  'short-compute': (options) => measureAttention(options),
  'long-compute': (options) => measureMixedPrecision({ ...options, iterations: 20, warmup: 2 }),
  memory: (options) => measureMemoryAllocation({ ...options, iterations: 200, warmup: 10 }),
  transfer: (options) => measureMultiStream({ ...options, iterations: 30, warmup: 3 }),
  inference: (options) => measureTokenGeneration({ ...options, workload: 'T1' }),
  // The wall time of this one is that of a start: driver, context, module, first kernel.
  'cold-start': (options) => measureKernelLaunch({ ...options, iterations: 1, warmup: 0 }),
};

const [name = '', times = '1'] = process.argv.slice(2);
const task = Object.hasOwn(tasks, name) ? tasks[name] : null;
if (task === null) {
  console.error(`Expected one of ${Object.keys(tasks).join(', ')} but received '${name}'.`);
  process.exit(2);
}
if (!/^[1-9]\d{0,5}$/.test(times)) {
  console.error(`Expected a number of times from 1 to 999999 but received '${times}'.`);
  process.exit(2);
}
// Under exec --simulate it finds the simulated GPU, which gets less to do.
const simulate = (await listDevices()).some(({ simulated }) => simulated);
let result = null;
for (let i = 0; i < Number(times); i++) {
  result = await task({ simulate });
  if (result.value === null) {
    console.error(`${name} is ${result.status}: ${result.reason}`);
    process.exit(1);
  }
}
console.log(JSON.stringify({ task: name, value: result.value, unit: result.unit }));
