/** A command's simulated card: its processes share it, and no other command does, unless GVB_SIM names a region. */
import { existsSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { command, processesOf, shortCalls, start } from './command.js';

const settings = (more: string) =>
  Object.entries(shortCalls)
    .map(([name, value]) => `${name}=${value}`)
    .join(',') + `,${more}`;

const run = ['run', 'OH-002', '--iterations', '50', '--simulate', '--json', '-'];
const cardsOfCommands = () => readdirSync('/dev/shm').filter((name) => /^gvb-sim-\d+-command-/.test(name));

interface Document {
  gpu: { multiprocessors: number }[];
  metrics: { status: string }[];
  warnings: string[];
}

describe('a command without a region', () => {
  it('has cards of its own beside another command with other settings, and leaves none behind', async () => {
    const before = cardsOfCommands();
    const running = [10, 20].map((sms) => start(run, { GVB_SIM: settings(`sms=${sms}`) }));
    const outcomes = await Promise.all(running.map(({ done }) => done));
    expect(outcomes.map(({ code, stderr }) => ({ code, stderr: code === 0 ? '' : stderr }))).toEqual(
      outcomes.map(() => ({ code: 0, stderr: '' })),
    );
    const documents = outcomes.map(({ stdout }) => JSON.parse(stdout) as Document);
    expect(documents.map(({ gpu }) => gpu.map(({ multiprocessors }) => multiprocessors))).toEqual([[10], [20]]);
    expect(documents.flatMap(({ metrics }) => metrics.map(({ status }) => status))).toEqual(['ok', 'ok']);
    expect(documents.flatMap(({ warnings }) => warnings).filter((text) => /process/.test(text))).toEqual([]);
    expect(cardsOfCommands().filter((card) => !before.includes(card))).toEqual([]);
  });

  it('leaves no card behind for long when it is killed', async () => {
    const before = cardsOfCommands();
    const killed = start(['run', 'OH-001', '--iterations', '1000000', '--simulate'], { GVB_SIM: settings('sms=10') });
    await expect.poll(() => cardsOfCommands().some((card) => !before.includes(card))).toBe(true);
    const left = cardsOfCommands().filter((card) => !before.includes(card));
    killed.child.kill('SIGKILL');
    await killed.done;
    await expect.poll(() => processesOf(killed.mark)).toEqual([]);
    // The next one removes what nobody uses any more.
    expect((await command(run)).code).toBe(0);
    // Cards of other tests' commands are gone once they end.
    await expect.poll(() => cardsOfCommands().filter((card) => left.includes(card))).toEqual([]);
  });

  it('removes a card whose maker was killed before it was written, and none of another form', async () => {
    const running = start(['run', 'OH-001', '--iterations', '1000000', '--simulate'], {
      GVB_SIM: `region=own-card-${process.pid},${settings('sms=10')}`,
    });
    const own = `/dev/shm/gvb-sim-${process.getuid?.()}-own-card-${process.pid}`;
    await expect.poll(() => existsSync(own) && statSync(own).size > 0).toBe(true);
    const { size } = statSync(own);
    running.child.kill('SIGTERM');
    await running.done;
    const made = [0, size, size - 1].map((bytes, index) => {
      const file = `/dev/shm/gvb-sim-${process.getuid?.()}-own-card-half-${index}-${process.pid}`;
      writeFileSync(file, '', { mode: 0o600 });
      truncateSync(file, bytes);
      return file;
    });
    expect((await command(run)).code).toBe(0);
    const there = made.map((file) => existsSync(file));
    for (const file of made) rmSync(file, { force: true });
    expect(there).toEqual([false, false, true]);
  });
});
