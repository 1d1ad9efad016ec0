// What a Node process costs: wall time from outside, processor time and memory from inside, because they can be read
// nowhere else.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PROBE = `process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  console.error(\`COST \${userCPUTime + systemCPUTime} \${maxRSS}\`);
});
`;

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Arguments of Node for the text of a module. */
export const moduleText = (text) => ['--input-type=module', '-e', text];

export class ProcessCosts {
  #probe;

  /** `folder`: for a file that the processes load. */
  constructor(folder) {
    this.#probe = join(folder, 'probe.mjs');
    writeFileSync(this.#probe, PROBE);
  }

  #one(args) {
    const start = performance.now();
    const { status, stderr } = spawnSync(process.execPath, ['--import', pathToFileURL(this.#probe).href, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ms = performance.now() - start;
    const [, cpuUs, kib] = /COST (\d+) (\d+)/.exec(stderr) ?? [];
    if (status !== 0 || kib === undefined) throw new Error(stderr);
    return { ms, cpuMs: Number(cpuUs) / 1_000, kib: Number(kib) };
  }

  /** Medians of each, by name. They run in turn, so that a change of the machine's speed meets all of them. */
  inTurn(commands, runs) {
    const all = Object.entries(commands).map(([name, args]) => ({ name, args, costs: [] }));
    for (let run = 0; run < runs; run++) for (const { args, costs } of all) costs.push(this.#one(args));
    return Object.fromEntries(
      all.map(({ name, costs }) => [
        name,
        Object.fromEntries(['ms', 'cpuMs', 'kib'].map((key) => [key, median(costs.map((cost) => cost[key]))])),
      ]),
    );
  }

  of(args, runs) {
    return this.inTurn({ one: args }, runs).one;
  }
}
