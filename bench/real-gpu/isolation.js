// Part 7: isolation and compatibility under two preload layers (vgpu-manager with both of its controllers) and MPS with
// half of the multiprocessors, tier quick; then compute limits of 30 and 70 %. The documents record what holds and what
// does not; this only checks that every metric gave a number or a reason, that native passes, and that no system is
// left without proof.
import { resolve } from 'node:path';
import { compareWith, describe, lines, systemsOf, values, verdict } from './evidence.js';

const MEMORY = 'memory=20GiB';

const hami = (sm) => `hami-core:name=hami-${sm},library=${resolve(values.hami)},${MEMORY},sm=${sm},policy=force`;
const vgpu = (controller, sm) =>
  `vgpu-manager:name=vgpu-${controller}-${sm},library=${resolve(values.vgpu)},${MEMORY},cores=${sm},controller=${controller}`;
const mps = (sm) => `mps:name=mps-${sm},${MEMORY},sm=${sm}`;

function judge(name, { document, seconds, status }) {
  lines.push(`     ${name}: ${seconds.toFixed(0)} s, exit ${status}`);
  for (const rounds of document().systems) {
    const { system, metrics, violations = [] } = rounds[0];
    const unproven = rounds.flatMap((round) => round.system.attestation.filter(({ passed }) => !passed));
    verdict(
      `${system.name} attests`,
      system.attestation.length > 0 && unproven.length === 0,
      `${unproven.length} failed`,
    );
    const failed = rounds.flatMap((round) => round.metrics.filter((each) => each.status === 'failed'));
    verdict(`no metric of ${system.name} failed`, failed.length === 0, failed.map(describe).join('; ') || 'none');
    for (const each of metrics) lines.push(`     ${system.name}  ${describe(each)}  ${each.value ?? ''} ${each.unit}`);
    for (const violation of violations) lines.push(`     ${system.name}  VIOLATION ${JSON.stringify(violation)}`);
  }
}

const one = ['--rounds', '1', '--tier', 'quick'];

function category() {
  const systems = systemsOf(['native', hami(50), vgpu('delta', 50), vgpu('aimd', 50), mps(50)]);
  const args = ['isolation', 'compatibility', ...one, ...systems];
  judge('isolation and compatibility', compareWith('compared-isolation', args, { timeoutSeconds: 900 }));
}

function limits() {
  const arms = [30, 70].flatMap((sm) => [hami(sm), vgpu('delta', sm), vgpu('aimd', sm), mps(sm)]);
  const args = ['IS-003', 'IS-004', ...one, ...systemsOf(['native', ...arms])];
  judge('compute limits', compareWith('compared-limits', args, { timeoutSeconds: 900 }));
}

/** Slow controllers need the longer windows of tier standard to show their oscillation. */
function controllers() {
  const args = ['IS-003', '--rounds', '1', '--tier', 'standard'];
  const systems = systemsOf([hami(50), vgpu('delta', 50), vgpu('aimd', 50)]);
  judge('controllers', compareWith('compared-controllers', [...args, ...systems], { timeoutSeconds: 900 }));
}

export const isolation = [[values.hami && values.vgpu, category]];
export const computeLimits = [[values.hami && values.vgpu, limits]];
export const controllersOfLimits = [[values.hami && values.vgpu, controllers]];
