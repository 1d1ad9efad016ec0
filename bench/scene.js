// A scene of eight local tenants on the simulated GPU: how far apart they are released, and the cost of starting each.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { localStart } from '../dist/workers/local.js';
import { Scene } from '../dist/workers/scene.js';

const TENANTS = 8;
const SCENES = 5;
const RELEASES = 10;
const DEADLINE_MS = 60_000;

const target = {
  simulatedDriver: fileURLToPath(new URL('../build/Release/sim', import.meta.url)),
  device: null,
  path: 'runtime',
};
const window = {
  method: 'window',
  params: { operation: 'memGetInfo', bytes: 0, windowNs: 50_000_000, warmup: 2, mostSamples: 100 },
};

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** The simulated driver initialises instantly, so that all of the time is the tool's. */
async function timedScene(home) {
  const settings = `region=limits-${randomUUID().slice(0, 8)},init_ms=0,context_ms=0`;
  const start = localStart({ PATH: process.env.PATH, HOME: home, GVB_SIM: settings });
  const scene = new Scene(new AbortController().signal);
  try {
    const began = performance.now();
    await Promise.all(Array.from({ length: TENANTS }, async () => (await scene.startWorker(start)).enter(target)));
    const msEach = (performance.now() - began) / TENANTS;
    const spreadsUs = [];
    for (let i = 0; i < RELEASES; i++) {
      const started = (await scene.together(window, DEADLINE_MS)).map(({ startedNs }) => startedNs);
      spreadsUs.push((Math.max(...started) - Math.min(...started)) / 1_000);
    }
    return { msEach, spreadsUs };
  } finally {
    await scene.stop();
  }
}

export async function sceneRows() {
  const home = mkdtempSync(join(tmpdir(), 'gvb-limits-'));
  try {
    const scenes = [];
    for (let i = 0; i < SCENES; i++) scenes.push(await timedScene(home));
    return [
      {
        what: `${TENANTS} tenants released: us apart`,
        value: median(scenes.flatMap(({ spreadsUs }) => spreadsUs)),
        limit: 200,
      },
      {
        what: `${TENANTS} tenants started: ms each, beyond cuInit`,
        value: median(scenes.map(({ msEach }) => msEach)),
        limit: 60,
      },
    ];
  } finally {
    rmSync(home, { recursive: true });
  }
}
