// Part 8: the LLM metrics natively, under two preload layers with and without a compute limit, and under MPS, tier
// quick. All systems must compute the same: the checksums equal native's if the size of the work is the same (LLM-001's
// batch depends on the multiprocessors that MPS leaves).
import { resolve } from 'node:path';
import { compareWith, describe, lines, values, verdict } from './evidence.js';

const MEMORY = 'memory=60GiB';
const systems = () => [
  'native',
  `hami-core:name=hami,library=${resolve(values.hami)},${MEMORY},policy=force`,
  `hami-core:name=hami-50,library=${resolve(values.hami)},${MEMORY},sm=50,policy=force`,
  `vgpu-manager:name=vgpu-50,library=${resolve(values.vgpu)},${MEMORY},cores=50,controller=aimd`,
  `mps:name=mps-50,${MEMORY},sm=50`,
];

function* checksumsIn(value, path = '') {
  if (value === null || typeof value !== 'object') return;
  for (const [key, part] of Object.entries(value))
    if (key === 'checksum') yield [`${path}, batch ${value.batch ?? 'of all'}`, part];
    else yield* checksumsIn(part, `${path}/${key}`);
}

function llm() {
  const args = ['llm', '--rounds', '1', '--tier', 'quick', '--seed', '1'];
  const { document, seconds, status } = compareWith(
    'compared-llm',
    [...args, ...systems().flatMap((spec) => ['--system', spec])],
    { timeoutSeconds: 900 },
  );
  lines.push(`     llm: ${seconds.toFixed(0)} s, exit ${status}`);
  const [native, ...others] = document().systems.map(([round]) => round);
  for (const { system, metrics } of [native, ...others]) {
    const bad = metrics.filter((each) => each.status === 'failed' || each.status === 'invalid');
    verdict(`no metric of ${system.name} failed`, bad.length === 0, bad.map(describe).join('; ') || 'none');
    const took = metrics.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0) / 1_000;
    verdict(`all of ${system.name} in less than 30 s`, took < 30, `${took.toFixed(1)} s`);
    for (const each of metrics) lines.push(`     ${system.name}  ${describe(each)}  ${each.value ?? ''} ${each.unit}`);
  }
  for (const { system, metrics } of others) {
    const differ = metrics.flatMap((each) => {
      const of = native.metrics.find(({ id }) => id === each.id);
      const wanted = new Map(checksumsIn(of?.details));
      return [...checksumsIn(each.details)].filter(([path, sum]) => wanted.has(path) && wanted.get(path) !== sum);
    });
    verdict(`checksums of ${system.name} are the native ones`, differ.length === 0, differ.join('; ') || 'all');
  }
}

export const languageModels = [[values.hami && values.vgpu, llm]];
