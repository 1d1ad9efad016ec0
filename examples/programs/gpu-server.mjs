// A server that works on the GPU for every request: node gpu-server.mjs PORT
// A server of your own takes its place; this one needs nothing but this package.
import { createServer } from 'node:http';
import { listDevices, measureKernelLaunch } from 'gpu-virt-bench';

const port = Number(process.argv[2]);
if (!Number.isInteger(port) || port < 1 || port > 65_535) {
  console.error(`Expected a port from 1 to 65535 but received '${process.argv[2]}'.`);
  process.exit(2);
}
const simulate = (await listDevices()).some(({ simulated }) => simulated);
const work = () => measureKernelLaunch({ simulate, iterations: 10, warmup: 1 });

/** One request after another, as the GPU would do them anyway. */
let last = work();
const server = createServer(async (_, response) => {
  last = last.then(work);
  const { status, value, unit, reason } = await last;
  response.writeHead(value === null ? 500 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ status, value, unit, reason }));
});
await last;
server.listen(port, '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
