import { describe, expect, it } from 'vitest';
import type { GpuLink } from '../../../lib/native/addon-types.js';
import { type Bursts, busGbs, operationsOf, resultsCheck, waitedCheck } from '../../../lib/metrics/nccl/collectives.js';
import { beyondLinks, noFasterThanLinks, ownCeiling, pairCeiling } from '../../../lib/metrics/nccl/link-ceilings.js';

const MIB = 2 ** 20;

const nvlink: GpuLink = {
  connection: 'NVLink',
  peerNvlinks: 4,
  nvlinks: 12,
  nvlinkMbs: 25_000,
  pcieGeneration: 4,
  pcieWidth: 16,
};
const pcie: GpuLink = { ...nvlink, connection: 'PHB', peerNvlinks: 0, nvlinks: 0, nvlinkMbs: null };

describe('what links carry', () => {
  it('is the sum of the NVLinks, or what PCIe carries', () => {
    expect(ownCeiling(nvlink)).toBe(300);
    expect(ownCeiling(pcie)).toBeCloseTo(16 * 1.969);
  });
  it('is that of the NVLinks between a pair, and the least of both ends', () => {
    expect(pairCeiling(nvlink, nvlink)).toBe(100);
    expect(pairCeiling(nvlink, { ...nvlink, peerNvlinks: 2 })).toBe(50);
    expect(pairCeiling(pcie, { ...pcie, pcieWidth: 8 })).toBeCloseTo(8 * 1.969);
  });
  it.each([
    ['no connection is reported', { ...nvlink, connection: null }],
    ['no speed is reported', { ...nvlink, nvlinkMbs: null }],
    ['no link of the pair is reported', { ...nvlink, peerNvlinks: 0 }],
    ['no PCIe link is reported', { ...pcie, pcieGeneration: null }],
  ])('is not known where %s', (_, link) => {
    expect(pairCeiling(link, nvlink)).toBeNull();
  });
});

describe('rates', () => {
  const rate = (gbs: number, ceilingGbs: number | null) => ({ name: 'copy', gbs, ceilingGbs });
  it('may be what the links carry', () => expect(noFasterThanLinks([rate(104, 100)]).passed).toBe(true));
  it('may not be more', () => {
    const check = noFasterThanLinks([rate(90, 100), rate(106, 100)]);
    expect(check).toMatchObject({ passed: false, detail: 'copy: 106.0 GB/s, but the links carry 100.0 GB/s' });
  });
  it('are not checked where nothing is known', () =>
    expect(noFasterThanLinks([rate(1e6, null)]).passed).toBe('not checked'));
  it.each([
    [{ value: 106, details: { ceilingGbs: 100 } }, '106.0 GB/s, and the links carry no more than 100.0'],
    [{ value: 104, details: { ceilingGbs: 100 } }, null],
    [{ value: 1e6, details: { ceilingGbs: null } }, null],
    [{ value: 1e6, details: {} }, null],
  ])('in a saved document: %j', (result, why) => expect(beyondLinks(result)).toBe(why));
});

describe('bursts', () => {
  const burst: Bursts = {
    burst: { collective: 'ncclAllReduce', bytes: 8, root: 0, operations: 10, bursts: 2, warmup: 1 },
    operationNs: Float64Array.of(1, 2),
    deviceShare: 0.9,
    words: 60,
    wrong: 0,
  };
  it('have as many operations as results have room', () => {
    expect(operationsOf(8, MIB, 1000)).toBe(1000);
    expect(operationsOf(8, MIB, 10_000)).toBe(2048);
    expect(operationsOf(64 * MIB, 256 * MIB, 1000)).toBe(4);
    expect(operationsOf(64 * MIB, MIB, 1000)).toBe(1);
  });
  it('count the bus as nccl-tests do', () => {
    expect(busGbs('ncclAllReduce', 100, 4, 10)).toBe(15);
    expect(busGbs('ncclAllGather', 100, 4, 10)).toBe(7.5);
    expect(busGbs('ncclBroadcast', 100, 4, 10)).toBe(10);
  });
  it('must have every word', () => {
    expect(resultsCheck([burst], 2).passed).toBe(true);
    expect(resultsCheck([burst, { ...burst, wrong: 1 }], 2)).toMatchObject({
      passed: false,
      detail: '1 of 120 words on 2 ranks are not what ncclAllReduce must leave there, first in results of 8 bytes',
    });
    expect(resultsCheck([{ ...burst, words: 0 }], 2).passed).toBe(false);
  });
  it('may not be shorter on the host than on the device', () => {
    expect(waitedCheck([burst, { ...burst, deviceShare: 1.01 }]).passed).toBe(true);
    expect(waitedCheck([burst, { ...burst, deviceShare: 1.1 }]).passed).toBe(false);
    expect(waitedCheck([{ ...burst, deviceShare: NaN }]).passed).toBe(false);
  });
});
