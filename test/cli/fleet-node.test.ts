/** `fleet node`: a task of a plan on the simulated GPU, and what it delivers however it ends. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readDelivery, unpacked } from '../../lib/fleet/deliveries.js';
import type { FleetDelivery } from '../../lib/fleet/delivery.js';
import { FrameReader } from '../../lib/fleet/frames.js';
import { interposerLibrary } from '../../lib/native/load.js';
import { passing } from '../waiting.js';
import { fleetFolder, planOf } from '../unit/fleet/fixtures.js';
import { command, parseDocument, processesOf, start } from './command.js';
import { expectRefusal, refused } from './refused.js';

const node = (folder: string, ...more: string[]) => ['fleet', 'node', '--plan', folder, ...more];
const delivered = async (folder: string, index: number) => (await readDelivery(folder, index)) as FleetDelivery;

describe('fleet node', () => {
  it('delivers the document of its task, and replaces it with that of a second attempt', async () => {
    const folder = fleetFolder(planOf(3, { arguments: ['--simulate', 'OH-002', '--iterations', '20'] }));
    const environment = { SLURM_ARRAY_TASK_ID: '2', SLURMD_NODENAME: 'n7' };
    const first = await command(node(folder), environment);
    expect({ code: first.code, said: first.stderr }).toEqual({
      code: 0,
      said: expect.stringContaining('Task 2 on n7, attempt 1: delivered a document, exit code 0.\n'),
    });
    expect(first.stdout).toMatch(/^OH-002 /m);
    const packed = readFileSync(join(folder, 'deliveries/2/document.json.gz'));
    const document = parseDocument(gunzipSync(packed).toString());
    const delivery = await delivered(folder, 2);
    expect(delivery).toMatchObject({ plan: 'plan-1', index: 2, attempt: 1, node: 'n7', exitCode: 0 });
    expect(delivery.gpus).toEqual([document.gpu[0]?.uuid]);
    expect(await unpacked(folder, delivery)).toEqual({ text: gunzipSync(packed).toString() });
    expect((await command(node(folder), environment)).code).toBe(0);
    expect(await delivered(folder, 2)).toMatchObject({ attempt: 2 });
    expect(readdirSync(join(folder, 'deliveries'))).toEqual(['2']);
  });

  it('records VBIOS and power limit, in which fleets differ', async () => {
    const folder = fleetFolder(planOf(1, { arguments: ['--simulate', 'OH-002', '--iterations', '20'] }));
    await start(node(folder, '--index', '0'), {}, 'vbios=7,power_limit_w=450').done;
    const found = await unpacked(folder, await delivered(folder, 0));
    const { gpu } = parseDocument((found as { text: string }).text);
    expect(gpu[0]).toMatchObject({ vbios: 'simulated.7', powerLimitW: 450 });
  });

  it('delivers the code of a command that cannot measure, with its error', async () => {
    const folder = fleetFolder(planOf(1, { arguments: ['OH-999'] }));
    const { code, stderr } = await command(node(folder, '--index', '0'));
    expect(code).toBe(2);
    expect(stderr).toContain('delivered no document, exit code 2.');
    expect(await delivered(folder, 0)).toMatchObject({
      exitCode: 2,
      document: null,
      gpus: [],
      message: expect.stringMatching(/^ended with exit code 2 without a document: error: Expected .*'OH-999'/),
    });
  });

  it('ends with 5 if the layer is not active', async () => {
    const inactive = `hami-core:library=${interposerLibrary()},memory=10GiB`;
    const folder = fleetFolder(
      planOf(1, {
        command: 'compare',
        arguments: ['--simulate', 'OH-002', '--rounds', '1', '--system', 'native', '--system', inactive],
      }),
    );
    const { code } = await command(node(folder, '--index', '0'));
    const { exitCode } = await delivered(folder, 0);
    expect({ code, exitCode }).toEqual({ code: 5, exitCode: 5 });
    expect(readdirSync(folder).sort()).toEqual(['deliveries', 'plan.json']);
  });

  it('prints the delivery among the lines of a log', async () => {
    const folder = fleetFolder(planOf(1));
    const { code, stdout, stderr } = await command(node(folder, '--index', '0', '--deliver', 'stdout'), {
      NODE_NAME: 'k1',
    });
    expect(code).toBe(0);
    expect(readdirSync(folder)).toEqual(['plan.json']);
    const reader = new FrameReader();
    const found = [...stderr.split('\n'), ...stdout.split('\n')].map((line) => reader.push(line)).find(Boolean);
    expect(found?.delivery).toMatchObject({ node: 'k1', index: 0, exitCode: 0 });
    expect(parseDocument(gunzipSync(found?.document as Buffer).toString()).metrics).toMatchObject([{ id: 'OH-002' }]);
  });

  it('is told that a log holds no delivery, or one that was cut off', async () => {
    const folder = fleetFolder(planOf(1));
    const log = join(folder, 'n0.log');
    const collected = async (text: string) => {
      writeFileSync(log, text);
      return command(['fleet', 'collect', folder, '--from', log]);
    };
    const other = await collected('Plan: OH-002\n');
    expect(other.stderr).toMatch(
      /^warning: .*n0\.log: it holds no delivery, as fleet node --deliver stdout prints it\.$/m,
    );
    const stdout = ['--index', '0', '--deliver', 'stdout'];
    const whole = await command(node(folder, ...stdout), { NODE_NAME: 'n0' });
    const lines = whole.stdout.trimEnd().split('\n');
    const cut = await collected(lines.slice(0, -1).join('\n'));
    expect(cut.stderr).toMatch(/^warning: .*n0\.log: 1 delivery begins and does not end\.$/m);
    expect([other.code, cut.code]).toEqual([1, 1]);
    expect(await collected(whole.stdout)).toMatchObject({ code: 0, stderr: '' });
  });

  it('delivers what was measured when it is interrupted', async () => {
    const folder = fleetFolder(
      planOf(1, { arguments: ['--simulate', 'OH-001', 'OH-002', '--iterations', '10000000'] }),
    );
    const running = start(node(folder, '--index', '0'));
    await running.said('Device 0');
    running.child.kill('SIGTERM');
    expect((await running.done).code).toBe(130);
    expect(await delivered(folder, 0)).toMatchObject({ exitCode: 130 });
    expect(await unpacked(folder, await delivered(folder, 0))).toEqual({
      text: expect.stringContaining('"completed": false'),
    });
    await passing(() => expect(processesOf(running.mark)).toEqual([]));
  });

  it('leaves no process and no delivery when it is killed', async () => {
    const folder = fleetFolder(planOf(1, { arguments: ['--simulate', 'OH-004', '--iterations', '1000'] }));
    const running = start(node(folder, '--index', '0'));
    await running.said('Plan: OH-004');
    running.child.kill('SIGKILL');
    await running.done;
    await passing(() => expect(processesOf(running.mark)).toEqual([]));
    expect(await readDelivery(folder, 0)).toBeNull();
  });

  it('refuses what is no task, no place or no folder of its own', async () => {
    const folder = fleetFolder(planOf(2));
    expectRefusal(await refused(node(folder, '--index', '2')), /of which there are 2 from 0 to 1, but received 2\./);
    expectRefusal(await refused(node(folder)), /SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX/);
    expectRefusal(await refused(node(folder, '--index', '0', '--deliver', 'mail')), /--deliver to be folder or stdout/);
    expectRefusal(await refused(node(join(folder, 'none'), '--index', '0')), /there is no such file/);
  });

  it('writes through no symbolic link', async () => {
    const folder = fleetFolder(planOf(1));
    const elsewhere = fleetFolder(planOf(1));
    mkdirSync(join(folder, 'deliveries'));
    symlinkSync(elsewhere, join(folder, 'deliveries/0'));
    const { code, stderr } = await command(node(folder, '--index', '0'));
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/it is a symbolic link/) });
    expect(readdirSync(elsewhere)).toEqual(['plan.json']);
  });
});
