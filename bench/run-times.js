// Where the time of a command goes: starts and ends of worker processes, their entry to the driver, and each request to them.
// `only` is the time in which nothing of another kind was under way: what would be saved at most without it.
// Usage: node bench/run-times.js [--tool PROGRAM] [--out FILE] ARGUMENT…
//        node bench/run-times.js run overhead 'IS-*' --tier quick --simulate
// With a bundle: --tool ./gpu-virt-bench. FILE gets every event, a line of JSON each.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const args = process.argv.slice(2);
const options = {};
while (args[0] === '--tool' || args[0] === '--out') {
  const [name, value] = args.splice(0, 2);
  options[name] = value;
}
const { '--tool': tool, '--out': out } = options;
if (args.length === 0) {
  console.error('Expected the arguments of gpu-virt-bench, e.g. run overhead --simulate, but received none.');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'gvb-run-times-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const events = out ?? join(folder, 'events.jsonl');
writeFileSync(events, '');
const [program, ...before] = tool ? [tool] : [process.execPath, here('../dist/cli/main.js')];
const began = performance.now();
const { status, error } = spawnSync(program, [...before, ...args], {
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, GVB_RUN_TIMES: events, NODE_OPTIONS: `--import ${here('run-times/hook.js')}` },
});
if (error) throw error;
const tookMs = performance.now() - began;

/** Intervals by kind, from the events of a worker. */
const spans = new Map();
const add = (kind, from, to) => spans.set(kind, [...(spans.get(kind) ?? []), [from, to]]);
const open = new Map();
for (const line of readFileSync(events, 'utf8').split('\n').filter(Boolean)) {
  const [ms, worker, what, name] = JSON.parse(line);
  const from = (key) => open.get(`${worker} ${key}`) ?? ms;
  if (what === 'ready') add('start of Node', from('start'), ms);
  else if (what === 'answered') add(kindOf(name.split(' ')[1]), from(name), ms);
  else if (what === 'ended') add('end of a process', from('stopped'), ms);
  else if (what === 'exited') add(name.split(' ')[0], from('spawned'), ms);
  else open.set(`${worker} ${what === 'asked' ? name : what}`, ms);
}

function kindOf(method) {
  return method === 'enter' || method === 'describe' ? 'driver, context and proof' : method;
}

/** Moments at which something begins or ends, with what is under way after each. */
function unions() {
  const edges = [...spans].flatMap(([kind, all]) =>
    all.flatMap(([from, to]) => [
      [from, kind, 1],
      [to, kind, -1],
    ]),
  );
  edges.sort((a, b) => a[0] - b[0]);
  const [busy, only, now] = [new Map(), new Map(), new Map()];
  let [last, all] = [0, 0];
  for (const [ms, kind, change] of edges) {
    const active = [...now].filter(([, count]) => count > 0).map(([name]) => name);
    for (const name of active) busy.set(name, (busy.get(name) ?? 0) + ms - last);
    if (active.length === 1) only.set(active[0], (only.get(active[0]) ?? 0) + ms - last);
    if (active.length > 0) all += ms - last;
    now.set(kind, (now.get(kind) ?? 0) + change);
    last = ms;
  }
  return { busy, only, all };
}

const { busy, only, all } = unions();
const seconds = (ms = 0) => (ms / 1_000).toFixed(2).padStart(9);
console.log(`\n${'seconds'.padEnd(30)}   count under way     only`);
for (const [kind, ms] of [...busy].sort((a, b) => b[1] - a[1]))
  console.log(
    `${kind.padEnd(30)} ${String(spans.get(kind).length).padStart(7)} ${seconds(ms)} ${seconds(only.get(kind))}`,
  );
console.log(`${'the command itself'.padEnd(30)} ${''.padStart(7)} ${seconds(tookMs - all)}`);
console.log(`${'in all'.padEnd(30)} ${''.padStart(7)} ${seconds(tookMs)}`);
process.exitCode = status ?? 1;
