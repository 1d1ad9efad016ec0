import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NvshareSystem, type NvshareOptions } from '../../../lib/systems/kinds/nvshare/nvshare-system.js';
import { askScheduler, message, MESSAGE_BYTES } from '../../../lib/systems/kinds/nvshare/scheduler-messages.js';
import { FIRST_LOOK } from '../../../lib/systems/system.js';
import { nvshareStandIn, standInLibrary } from '../../nvshare.js';
import {
  CARD,
  description,
  type DescriptionChange,
  gpu,
  libraryFile,
  probe,
  runState,
  temporaryFolder,
} from './fixtures.js';

const folder = temporaryFolder();
const HIDDEN = 1536 * 2 ** 20;

const system = (change: Partial<NvshareOptions> = {}) =>
  new NvshareSystem({
    ...{ name: 'nvshare', caller: { PATH: '/bin' }, library: libraryFile(folder, 'libnvshare.so') },
    ...{ scheduler: '/bin/true', socket: join(folder, 'none.sock'), turns: true, quantumSeconds: 30 },
    ...{ oversubscribe: false, ...change },
  });

describe('nvshare', () => {
  it('has turns of its quantum, unless they are off', () => {
    expect([system().turnMs, system({ quantumSeconds: 2 }).turnMs, system({ turns: false }).turnMs]).toEqual([
      30_000,
      2_000,
      undefined,
    ]);
  });

  it('is unavailable without its library or its scheduler', () => {
    expect(system({ library: null }).unavailable).toMatch(/library not available/);
    expect(system({ scheduler: undefined }).unavailable).toMatch(/nvshare-scheduler is not in PATH/);
  });

  it('refuses another GPU than the first', async () => {
    const run = { ...runState(folder), gpu: { ...gpu, index: 1 } };
    await expect(system().prepare(run)).rejects.toThrow(/Expected nvshare to measure GPU 0, .* received GPU 1/);
  });
});

describe('the proofs of nvshare', () => {
  const active = { visibleTotalBytes: CARD, visibleFreeBytes: CARD - HIDDEN };

  async function attested(seen = probe(active), change: DescriptionChange = {}, more: Partial<NvshareOptions> = {}) {
    const stand = nvshareStandIn();
    const library = more.library ?? standInLibrary(stand);
    const made = system({ ...stand, ...more, library });
    await made.prepare(runState(folder));
    onTestFinished(() => made.teardown());
    const allocations = made.canaries().map(({ bytes }) => ({ bytes, code: 2 }));
    const look = { ...FIRST_LOOK, probe: { ...seen, allocations: seen.allocations ?? allocations } };
    const attest = () => made.attest(description(library, { exports: 15, memoryBytes: CARD, ...change }), look);
    return { attest, made, stand };
  }

  it('pass under an active layer', async () => {
    const { attest, made, stand } = await attested();
    const { proofs, invalid, notChecked } = await attest();
    expect({ failed: proofs.filter(({ passed }) => !passed), invalid, notChecked }).toEqual({
      failed: [],
      invalid: undefined,
      notChecked: [],
    });
    expect(proofs).toHaveLength(10);
    await made.teardown();
    expect(existsSync(stand.socket)).toBe(false);
  });

  it.each<[string, Partial<typeof active>, DescriptionChange, RegExp]>([
    ['free memory of the bare driver', { visibleFreeBytes: CARD - HIDDEN / 3 }, {}, /free memory as nvshare shows it/],
    ['a layer that the runtime path escapes', {}, { paths: ['dlsym'] }, /cuInit on runtime/],
    ['an MPS client', {}, { mpsClient: true }, /it is an MPS client/],
  ])('fail for %s', async (_, seen, change, reason) => {
    const { attest } = await attested(probe({ ...active, ...seen }), change);
    expect((await attest()).invalid).toMatch(reason);
  });

  it('fail for the library of another layer', async () => {
    const { attest } = await attested(undefined, {}, { library: '/bin/true' });
    expect((await attest()).invalid).toMatch(/exports no name that begins with nvshare_/);
  });

  it('fail if an allocation is granted that the card cannot hold for all', async () => {
    const allocations = [{ bytes: CARD - 2 ** 30, code: 0 }];
    const { attest } = await attested(probe({ ...active, allocations }));
    expect((await attest()).invalid).toMatch(/is refused: the driver returned 0/);
  });

  it('fail if somebody switches the turns off, or takes the socket over', async () => {
    const { attest, made, stand } = await attested();
    await askScheduler(stand.socket, 5_000, { isOn: false, quantumSeconds: 30 });
    expect((await attest()).invalid).toMatch(/turns are off, not as set/);
    execFileSync('mv', [stand.socket, `${stand.socket}.old`]);
    const other = createServer().listen(stand.socket);
    onTestFinished(() => void other.close());
    expect((await attest()).invalid).toMatch(/another scheduler has taken .* over/);
    await made.teardown();
    expect(existsSync(stand.socket)).toBe(true);
  });
});

describe('the messages of nvshare', () => {
  it('have the layout of its C header', () => {
    // struct message of src/comm.h, written by a C program.
    const source = `
      #include <stdint.h>
      #include <stdio.h>
      #include <string.h>
      struct __attribute__((packed)) message { uint8_t type; char pod[254], space[254]; uint64_t id; char data[20]; };
      int main() { struct message m; memset(&m, 0, sizeof m); m.type = 8; strcpy(m.data, "17");
        fwrite(&m, 1, sizeof m, stdout); return 0; }`;
    const program = join(folder, 'write-message');
    execFileSync('cc', ['-x', 'c', '-o', program, '-'], { input: source });
    expect(execFileSync(program)).toEqual(message('setQuantum', '17'));
    expect(MESSAGE_BYTES).toBe(537);
  });

  it('are waited for, but not for ever', async () => {
    const socket = join(folder, 'deaf.sock');
    const server = createServer().listen(socket);
    onTestFinished(() => void server.close());
    await expect(askScheduler(socket, 50)).rejects.toThrow(/no answer within 0\.05 s/);
    await expect(askScheduler(join(folder, 'no.sock'), 50)).rejects.toThrow(/ENOENT/);
  });
});
