// Uses the package as a library, on the architecture of the Node that runs it: node binding.mjs DIST.
import assert from 'node:assert/strict';
import { join } from 'node:path';

const { getProvenance, listDevices, measureKernelLaunch, measureMemoryAllocation } = await import(
  join(process.argv[2], 'index.js')
);
const simulate = true;

const [device] = await listDevices({ simulate });
assert.match(device.name, /^Simulated GPU/);
const provenance = await getProvenance({ simulate });
assert.ok(provenance.length > 100);
for (const { name, interposed } of provenance) assert.deepEqual(interposed, [], name);

// The clock of an emulated processor is not exact enough for every reading. Everything else has to be right.
for (const measured of [measureMemoryAllocation, measureKernelLaunch]) {
  const { id, status, value, reason } = await measured({ simulate });
  if (status === 'ok') assert.ok(value > 0, id);
  else assert.match(`${status}: ${reason}`, /^invalid: .*clock/, id);
}
await assert.rejects(measureMemoryAllocation({ simulate, device: 'nowhere' }), /nowhere/);
console.log(`${process.arch}: the binding works`);
