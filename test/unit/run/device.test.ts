import { describe, expect, it } from 'vitest';
import { CudaError } from '../../../lib/native/errors.js';
import { chooseDevice, hiddenGpusOr } from '../../../lib/run/plan/device.js';
import { device } from './fixtures.js';

const devices = [device(0), device(1)];
const choose = (requested?: string, visible?: string, list = devices) =>
  chooseDevice(list, requested, visible).device.index;

describe('choosing the device', () => {
  it('takes the first GPU by default', () => expect(choose()).toBe(0));
  it('takes an index', () => expect(choose('1')).toBe(1));
  it('takes a UUID in either case', () => expect(choose(devices[1]?.uuid.toUpperCase())).toBe(1));
  it('takes a prefix of a UUID', () => expect(choose('GPU-1')).toBe(1));
  it('takes the first GPU that CUDA_VISIBLE_DEVICES leaves visible', () => {
    expect(choose(undefined, '1,0', [device(1), device(0)])).toBe(1);
    expect(chooseDevice([device(1)], undefined, 'MIG-1234').because).toBe('CUDA_VISIBLE_DEVICES=MIG-1234');
  });
  it('prefers --device to CUDA_VISIBLE_DEVICES', () => expect(choose('0', '1')).toBe(0));

  it('takes several in their order, the first of which is measured', () => {
    const { device: first, cards } = chooseDevice(devices, '1,GPU-0', undefined);
    expect([first.index, cards?.map(({ index }) => index)]).toEqual([1, [1, 0]]);
    expect(chooseDevice(devices, '1', undefined).cards).toBeNull();
  });
  it.each([
    ['0,0', /^Expected --device to name each GPU once but received '0,0': two entries are GPU 0, GPU-/],
    ['1,GPU-1', /two entries are GPU 1, GPU-/],
    ['0,7', /^Expected --device to be an index from 0 to 1 or a UUID .* but received '?7'? in '0,7'\.$/],
    ['0,GPU-ffff', /but received 'GPU-ffff' in '0,GPU-ffff'\.$/],
  ])('refuses the list %s', (requested, reason) => expect(() => choose(requested)).toThrow(reason));
  it('says that several UUIDs begin with what was given', () => {
    const alike = [device(0), { ...device(1), uuid: `${device(0).uuid.slice(0, -1)}f` }];
    const given = device(0).uuid.slice(0, 12);
    expect(() => chooseDevice(alike, given, undefined)).toThrow(/with which several UUIDs begin\.$/);
  });
  it('refuses a list with a MIG instance or a card in MIG mode', () => {
    const inMig = [device(0), { ...device(1), migMode: 'enabled' as const }];
    expect(() => chooseDevice(inMig, '0,1', undefined)).toThrow(/a process sees only one MIG instance; name one\.$/);
    expect(chooseDevice(inMig, '1', undefined).device.index).toBe(1);
  });

  it.each(['2', '7', 'GPU-', 'GPU-ffff', 'gpu'])('refuses --device %s', (requested) =>
    expect(() => choose(requested)).toThrow(/^Expected --device to be an index from 0 to 1 or a UUID .* but received/),
  );
  it.each(['GPU-ff', '', '-1'])('reports that CUDA_VISIBLE_DEVICES=%s names no GPU', (visible) =>
    expect(() => choose(undefined, visible, [])).toThrow(/^Expected CUDA_VISIBLE_DEVICES to name a GPU/),
  );
  it('names the command doctor if there is no GPU', () =>
    expect(() => choose(undefined, undefined, [])).toThrow(/doctor/));

  const noDevice = new CudaError(100, 'CUDA_ERROR_NO_DEVICE', 'cuInit', 'looking for GPUs');
  it.each(['7', ''])('reports that CUDA_VISIBLE_DEVICES=%j hides every GPU if the driver finds none', (visible) =>
    expect(hiddenGpusOr(noDevice, visible)).toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(
        /^Expected CUDA_VISIBLE_DEVICES to name a GPU of this machine but received/,
      ) as string,
    }),
  );
  it('does not change other errors', () => {
    const other = new CudaError(999, 'CUDA_ERROR_UNKNOWN', 'cuInit', 'looking for GPUs');
    expect(hiddenGpusOr(noDevice, undefined)).toBe(noDevice);
    expect(hiddenGpusOr(other, '7')).toBe(other);
  });
});
