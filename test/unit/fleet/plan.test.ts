import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { foreignFolders, readDelivery } from '../../../lib/fleet/deliveries.js';
import { codeForScheduler, hasResults } from '../../../lib/fleet/delivery.js';
import { readPlan } from '../../../lib/fleet/plan.js';
import { nodeName, taskIndex } from '../../../lib/fleet/task.js';
import { deliver, deliveryOf, fleetFolder, planOf } from './fixtures.js';

describe('the plan', () => {
  it('is read as it was written', async () => {
    const plan = planOf(3, { command: 'compare', arguments: ['IS-*', '--system', 'native'] });
    expect(await readPlan(fleetFolder(plan))).toEqual(plan);
  });

  it.each([
    ['has no task', planOf(0), /at tasks: it has no task/],
    ['has a task twice', planOf(0, { tasks: [{ index: 1 }, { index: 1 }] }), /two of its tasks have the same index/],
    ['has a negative index', planOf(0, { tasks: [{ index: -1 }] }), /at tasks\.0\.index/],
    ['is of another kind', { ...planOf(1), kind: 'run' }, /it is no fleet-plan/],
    ['is newer', { ...planOf(1), schemaVersion: 2 }, /it is of version 2 .* reads 1/],
    ['says where results go', planOf(1, { arguments: ['--json=x'] }), /must not be one of --output/],
    ['only prints the help', planOf(1, { arguments: ['-h'] }), /at arguments\.0/],
    ['has a NUL in an argument', planOf(1, { arguments: ['a\0b'] }), /NUL/],
    ['has an id that leads elsewhere', planOf(1, { id: '../x' }), /at id/],
  ])('is refused if it %s', async (_, plan, says) => expect(readPlan(fleetFolder(plan))).rejects.toThrow(says));

  it('is refused if it is a link, cut off, or not there', async () => {
    const folder = fleetFolder(planOf(1));
    const file = join(folder, 'plan.json');
    rmSync(file);
    await expect(readPlan(folder)).rejects.toThrow(/there is no such file/);
    symlinkSync('/etc/hostname', file);
    await expect(readPlan(folder)).rejects.toThrow(/it is a symbolic link/);
    rmSync(file);
    writeFileSync(file, '{"kind": "fleet-pl');
    await expect(readPlan(folder)).rejects.toThrow(/it is not complete JSON/);
  });
});

describe('the task of a node', () => {
  const plan = planOf(0, { tasks: [{ index: 0 }, { index: 7 }] });

  it('is the one named, else that of the scheduler', () => {
    expect(taskIndex(plan, { index: '7' }, { SLURM_ARRAY_TASK_ID: '0' })).toBe(7);
    expect(taskIndex(plan, {}, { SLURM_ARRAY_TASK_ID: '7', JOB_COMPLETION_INDEX: '0' })).toBe(7);
    expect(taskIndex(plan, {}, { JOB_COMPLETION_INDEX: '0' })).toBe(0);
    expect(taskIndex(plan, { tasks: '0,7' }, { JOB_COMPLETION_INDEX: '1' })).toBe(7);
  });

  it.each(['1', '-1', '7.0', '0x7', '', '99999999999'])('is refused if %j is none', (text) =>
    expect(() => taskIndex(plan, { index: text }, {})).toThrow(
      /Expected --index to be the index of a task of the plan, of which/,
    ),
  );

  it('is refused if nothing says it', () => expect(() => taskIndex(plan, {}, {})).toThrow(/name it with --index/));

  it('has the name that the scheduler gives the node', () => {
    expect(nodeName({ SLURMD_NODENAME: 'n1', NODE_NAME: 'other' })).toBe('n1');
    expect(nodeName({ NODE_NAME: 'k1' })).toBe('k1');
    expect(nodeName({})).not.toBe('');
  });
});

describe('what the scheduler sees', () => {
  const document = { bytes: 1, sha256: '0'.repeat(64) };

  it.each([
    [0, document, 0],
    [3, document, 0],
    [4, document, 0],
    [1, document, 1],
    [5, document, 5],
    [2, null, 2],
    [130, document, 130],
    [0, null, 1],
    [null, document, 1],
  ])('of exit code %s and document %j is %i', (exitCode, sealed, code) =>
    expect(codeForScheduler({ exitCode, document: sealed })).toBe(code),
  );

  it('is a failure of results in which a metric failed', () => {
    expect([0, 1, 3, 4].map((exitCode) => hasResults(deliveryOf(0, { exitCode, document })))).not.toContain(false);
    expect([2, 5, 130, null].map((exitCode) => hasResults(deliveryOf(0, { exitCode, document })))).not.toContain(true);
    expect(hasResults(deliveryOf(0))).toBe(false);
  });
});

describe('a delivery', () => {
  it('is not there before its note is', async () => {
    const folder = fleetFolder(planOf(2));
    mkdirSync(join(folder, 'deliveries/0'), { recursive: true });
    expect(await readDelivery(folder, 0)).toBeNull();
    expect(await readDelivery(folder, 1)).toBeNull();
  });

  it('is refused if it is of another task, or its folder is a link', async () => {
    const folder = fleetFolder(planOf(2));
    deliver(folder, 0, null, { index: 1 });
    expect(await readDelivery(folder, 0)).toBe('it says that it is of task 1');
    symlinkSync('0', join(folder, 'deliveries/1'));
    expect(await readDelivery(folder, 1)).toMatch(/its folder is a symbolic link/);
  });

  it('is of no task of the plan if its folder is named by none', async () => {
    const folder = fleetFolder(planOf(2));
    expect(await foreignFolders(folder, new Set([0, 1]))).toEqual([]);
    for (const name of ['0', '7', '01', 'x', '1.0f.tmp'])
      mkdirSync(join(folder, 'deliveries', name), { recursive: true });
    expect((await foreignFolders(folder, new Set([0, 1]))).sort()).toEqual(['01', '7', 'x']);
  });
});
