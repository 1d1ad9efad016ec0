/** What the runs of a scene show beside their numbers. */
import type { Check } from '../../results/document.js';
import { percent } from '../../environment/machine-health.js';
import { foreignCheck, slowdownCheck, temperatureCheck } from '../round/health.js';
import type { ProcessProof } from '../proof/proof-state.js';
import { proofCheck, spreadCheck } from '../round/round-of-runs.js';
import type { MeasuredRun } from '../program/measured-run.js';
import type { Scene } from './scene-type.js';
import { LEAST_PRESENCE, neighboursIn, type Together } from './together.js';

interface Seen {
  scene: Scene;
  /** Proofs of every program that was at work in the runs that count. */
  proofs: readonly ProcessProof[];
  together: readonly Together[];
  cvs: readonly (number | null)[];
  warmups: readonly MeasuredRun[];
  runs: readonly MeasuredRun[];
  /** Processes of the scene, and of the system, which NVML may list. */
  ownPids: readonly number[];
  /** Whether NVML listed processes. */
  listsProcesses: boolean;
}

export function sceneChecks({ scene, proofs, together, cvs, warmups, runs, ownPids, listsProcesses }: Seen): Check[] {
  const seen = runs.map(({ gpu }) => gpu.seen);
  return [
    ...(proofs.length > 0 ? [proofCheck(proofs)] : []),
    ...presenceChecks(together),
    ...(cvs.length > 0 ? [spreadCheck(cvs)] : []),
    temperatureCheck(
      [...warmups, ...runs].map(({ cooled }) => cooled),
      scene.coolDown,
    ),
    slowdownCheck(seen),
    foreignCheck(seen, ownPids, listsProcesses),
  ];
}

/** What was seen of the neighbours in the runs that count. */
function presenceChecks(together: readonly Together[]): Check[] {
  if (together.length === 0) return [];
  const parts = together.flatMap(({ least }) => [...least.values()]);
  const least = Math.min(...parts.map(({ onGpu }) => onGpu));
  const mapped = new Set(
    together.flatMap(({ presences }) =>
      neighboursIn(presences)
        .filter(({ use }) => use === 'mapped')
        .map(({ name }) => name),
    ),
  );
  return [
    {
      name: 'neighbours on the GPU beside every victim',
      passed: least >= LEAST_PRESENCE,
      detail: `for at least ${percent(least)} of its time in ${together.length} runs`,
    },
    {
      name: 'neighbours use the GPU',
      passed: mapped.size === 0 ? true : 'not checked',
      detail:
        mapped.size === 0
          ? 'counted by the device, or listed by NVML'
          : `NVML lists no process of the scene by its own PID; ${[...mapped].join(', ')} had the driver mapped`,
    },
  ];
}
