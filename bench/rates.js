// Measures how fast the kernels of LLM-* run on the first visible GPU: memory read, written and copied (GB/s), matrix
// products in every number format (TFLOPS, the clock, the error, the kernel). Compare with bench/pytorch.py on the same
// machine. Usage: node bench/rates.js [--simulate] [SIDE …]   default: 4096 8192, and FP32 only at 10000
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const addon = createRequire(import.meta.url)('../build/Release/gpu_virt_bench.node');
const simulated = fileURLToPath(new URL('../build/Release/sim', import.meta.url));
const simulatedDriver = process.argv.includes('--simulate') ? simulated : null;
const given = process.argv.slice(2).filter((argument) => /^\d+$/.test(argument));
const all = given.length > 0 ? given.map(Number) : [4096, 8192];
const requests = [
  ...all.map((side) => ({ side, formats: 'all' })),
  ...(given.length > 0 ? [] : [{ side: 10_000, formats: 'fp32' }]),
];

const batchOf = (leastLaunches, leastNs) => ({ leastLaunches, leastNs });
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const session = await addon.openSession({ simulatedDriver, device: null, path: 'runtime' });
// The simulated card really moves the bytes of its kernels.
const bytes = simulatedDriver === null ? 0 : 2 ** 21;
for (const kind of ['read', 'write', 'copy']) {
  const { movedBytes, launchNs } = await addon.stream(session, { kind, bytes, batches: 5, ...batchOf(20, 1e8) });
  console.log(`memory\t${kind}\t${(movedBytes / median(launchNs)).toFixed(0)} GB/s`);
}
for (const request of requests) {
  const { rates } = await addon.gemmRates(session, { ...request, rounds: 5, ...batchOf(20, 5e7), seed: 1 });
  for (const { number, unsupported, variant, launchFlops, launchNs, smClockMhz, worstError } of rates) {
    const tflops = unsupported === null ? launchFlops / median(launchNs) / 1e3 : null;
    console.log(
      [
        request.side,
        number,
        tflops?.toFixed(1) ?? unsupported,
        variant,
        `${smClockMhz} MHz`,
        `error ${worstError.toExponential(1)}`,
      ].join('\t'),
    );
  }
}
await addon.closeSession(session);
