import { describe, expect, it } from 'vitest';
import { chooseDevice } from '../../lib/run/device.js';
import { device } from './run-fixtures.js';

const devices = [device(0), device(1)];
const choose = (requested?: string, visible?: string, simulated = false, list = devices) =>
  chooseDevice({ devices: list, simulated }, requested, visible).device.index;

describe('choosing the device', () => {
  it('takes the first GPU without a word', () => expect(choose()).toBe(0));
  it('takes an index', () => expect(choose('1')).toBe(1));
  it('takes a UUID in either case', () => expect(choose(devices[1]?.uuid.toUpperCase())).toBe(1));
  it('takes the beginning of a UUID', () => expect(choose('GPU-1')).toBe(1));
  it('takes the first entry of CUDA_VISIBLE_DEVICES', () => expect(choose(undefined, '1,0')).toBe(1));
  it('lets --device go before CUDA_VISIBLE_DEVICES', () => expect(choose('0', '1')).toBe(0));
  it('takes the only GPU for a MIG instance', () => expect(choose(undefined, 'MIG-1234', false, [device(0)])).toBe(0));
  it("does not look for the machine's GPUs in the simulation", () => expect(choose(undefined, 'GPU-ff', true)).toBe(0));

  it.each(['2', '7', 'GPU-', 'GPU-ffff', 'gpu'])('refuses --device %s', (requested) =>
    expect(() => choose(requested)).toThrow(/^Expected --device to be an index from 0 to 1 or a UUID .* but received/),
  );
  it('refuses CUDA_VISIBLE_DEVICES that names none of several', () =>
    expect(() => choose(undefined, 'GPU-ff')).toThrow(/^Expected CUDA_VISIBLE_DEVICES to begin with/));
  it('says where to look when there is no GPU', () =>
    expect(() => choose(undefined, undefined, false, [])).toThrow(/doctor/));
});
