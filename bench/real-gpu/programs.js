// Part programs: the decode loop of examples/pytorch as a CUDA graph through exec, natively and with half of the card
// under three layers, and LLM-004 under the same systems. Its headline and `decode/itl` are both bound by the GPU, so
// they must not contradict each other.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contradict } from './contradiction.js';
import { command, compare, describe, lines, out, systemsOf, values, verdict } from './evidence.js';

const CONFIG = fileURLToPath(new URL('decode.yaml', import.meta.url));
const PROGRAM = 'decode/itl';
const MEMORY = 'memory=60GiB';
const ROUNDS = values.rounds ?? '3';

const hami = values.hami && `hami-core:name=hami-50,library=${resolve(values.hami)},${MEMORY},sm=50,policy=force`;
const vgpu =
  values.vgpu && `vgpu-manager:name=vgpu-50,library=${resolve(values.vgpu)},${MEMORY},cores=50,controller=aimd`;
const systems = ['native', ...(hami ? [hami] : []), ...(vgpu ? [vgpu] : []), `mps:name=mps-50,${MEMORY},sm=50`];

function executed() {
  const path = join(out, 'programs.json');
  const directory = mkdtempSync(join(tmpdir(), 'gvb-'));
  const args = ['exec', '--config', CONFIG, ...systemsOf(systems), '--rounds', ROUNDS, '--seed', '1'];
  const result = command('programs', [...args, '--output', join(directory, 'out'), '--json', path]);
  rmSync(directory, { recursive: true, force: true });
  verdict('decode loop of PyTorch under every system', result.status === 0, `exit ${result.status}`);
}

const effectOf = (document, metric, system) =>
  document.effects.find((effect) => effect.metric === metric && effect.system === system);
const shown = ({ ratio, ratioCi95, verdict: judged }) =>
  `x ${ratio?.toFixed(3)} (${ratioCi95?.map((end) => end.toFixed(3)).join(' to ') ?? 'no interval'}) ${judged}`;

function besideLlm() {
  const result = compare('programs-llm', systems, ['LLM-004', '--rounds', ROUNDS, '--tier', 'quick', '--seed', '1']);
  const path = join(out, 'programs.json');
  if (!existsSync(path)) return;
  const program = JSON.parse(readFileSync(path, 'utf8'));
  const ours = result.document();
  for (const [round] of program.systems)
    for (const each of round.metrics)
      lines.push(`     ${round.system.name}  ${describe(each)}  ${each.value ?? ''} ${each.unit}`);
  for (const [round] of program.systems.slice(1)) {
    const { name } = round.system;
    // The label of a program has `(unverified)`, that of our proven worker has not.
    const pair = [effectOf(program, PROGRAM, name), effectOf(ours, 'LLM-004', name.replace(/ \(unverified\)$/, ''))];
    if (pair.includes(undefined)) verdict(`${name} against native`, false, 'one of the two has no effect');
    else
      verdict(
        `${name} against native`,
        !contradict(...pair),
        `${PROGRAM} ${shown(pair[0])}; LLM-004 ${shown(pair[1])}`,
      );
  }
}

export const programs = [
  [true, executed],
  [true, besideLlm],
];
