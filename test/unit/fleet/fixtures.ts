/** Folders of fleets, without measuring. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DELIVERIES, DELIVERY, DOCUMENT, type FleetDelivery, sealOf } from '../../../lib/fleet/delivery.js';
import { type FleetPlan, PLAN, PLAN_VERSION } from '../../../lib/fleet/plan.js';
import { roundsOf, type ResultDocument } from '../../../lib/results/kinds.js';
import { temporaryFolder } from '../../temporary.js';

const tool = { name: 'gpu-virt-bench', version: '0.1.0' } as const;

export const planOf = (tasks: number, change: Partial<FleetPlan> = {}): FleetPlan => ({
  kind: 'fleet-plan',
  schemaVersion: PLAN_VERSION,
  tool,
  id: 'plan-1',
  created: '2026-01-01T00:00:00.000Z',
  scheduler: 'none',
  tasks: Array.from({ length: tasks }, (_, index) => ({ index })),
  command: 'run',
  arguments: ['--simulate', 'OH-002'],
  ...change,
});

/** A new folder with that plan. */
export function fleetFolder(plan: unknown): string {
  const folder = temporaryFolder('fleet');
  writeFileSync(join(folder, PLAN), JSON.stringify(plan));
  return folder;
}

export const packed = (document: unknown): Buffer => gzipSync(JSON.stringify(document));

export const deliveryOf = (index: number, change: Partial<FleetDelivery> = {}): FleetDelivery => ({
  kind: 'fleet-delivery',
  schemaVersion: 1,
  tool,
  plan: 'plan-1',
  index,
  attempt: 1,
  node: `n${index}`,
  started: '2026-01-01T00:00:00.000Z',
  ended: '2026-01-01T00:01:00.000Z',
  exitCode: 0,
  gpus: [],
  document: null,
  ...change,
});

/** Writes the delivery of that task; without a document there is none. */
export function deliver(
  folder: string,
  index: number,
  document: ResultDocument | null,
  change: Partial<FleetDelivery> = {},
): void {
  const place = join(folder, DELIVERIES, String(index));
  mkdirSync(place, { recursive: true });
  const content = document && packed(document);
  if (content) writeFileSync(join(place, DOCUMENT), content);
  const gpus = document ? roundsOf(document).flatMap(({ gpu }) => gpu.map(({ uuid }) => uuid)) : [];
  writeFileSync(
    join(place, DELIVERY),
    JSON.stringify(deliveryOf(index, { gpus: [...new Set(gpus)], document: content && sealOf(content), ...change })),
  );
}
