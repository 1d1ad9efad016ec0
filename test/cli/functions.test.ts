/** Functions that are missing: what `doctor` says of them, and what is lost. Every function is in test/truth/functions.test.ts. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { driverBranches, newerFunctions } from '../../lib/native/function-names.js';
import type { MissingFunction } from '../../lib/systems/proof/missing-functions.js';
import { costOf, listedCost, measuredWithAll, type Results } from '../functions/cost.js';
import { command, emptyFolder } from './command.js';

/** Those that users have; the table has the others too. */
const BRANCHES = new Set(['525', '550', '570', '590']);
const IDS = ['OH-002', 'PCIE-001', 'START-005'];

describe('without a function', () => {
  let whole: Results;
  beforeAll(async () => {
    whole = await measuredWithAll(IDS);
  });

  it.each(['cuDeviceGetCount', 'cuMemAllocAsync', 'cuModuleUnload', 'nvmlInit_v2', 'nvmlDeviceGetName'])(
    'what doctor lists is lost, and nothing else: %s',
    async (name) => {
      const cost = await costOf([name], IDS, whole);
      expect(cost).toEqual(listedCost(name, IDS));
    },
  );
});

const missingWith = async (sim: string): Promise<MissingFunction[]> => {
  const { stdout } = await command(['doctor', '--json'], {}, sim);
  return JSON.parse(stdout).missing;
};

describe('doctor', () => {
  it.each(driverBranches.filter(([name]) => BRANCHES.has(name)))(
    'lists what driver %s lacks, and which driver has it',
    async (branch, version) => {
      const missing = await missingWith(`driver=${branch}`);
      const newer = Object.entries(newerFunctions).filter(([, since]) => since > version);
      expect(missing.map(({ name, hiddenOn }) => [name, hiddenOn])).toEqual(newer.map(([name]) => [name, []]));
      for (const { name, sinceDriver } of missing) {
        const [, since] = driverBranches.find(([known]) => known === sinceDriver) ?? [];
        expect(since).toBeGreaterThanOrEqual(newerFunctions[name] ?? Infinity);
      }
    },
  );

  it('says what is lost without a function that every driver has', async () => {
    const { stdout } = await command(['doctor'], {}, 'hide=cuMemHostRegister_v2+nvmlDeviceGetName');
    expect(stdout).toContain('No interception: the driver owns every function that it has.');
    expect(stdout).toMatch(/^cuMemHostRegister_v2 +not in this driver, though every driver has it +part of PCIE-004/m);
    expect(stdout).toMatch(/^nvmlDeviceGetName +not in this driver, though every driver has it +START-005/m);
  });

  it('names the layer that hides a function', async () => {
    const layer = join(emptyFolder(), 'hiding.so');
    const source = fileURLToPath(new URL('../native/fixtures/hiding.c', import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', layer, source, '-ldl']);
    const { stdout } = await command(['doctor', '--json'], { LD_PRELOAD: layer });
    const missing = JSON.parse(stdout).missing as MissingFunction[];
    expect(missing.map(({ name }) => name)).toEqual(['cuGetProcAddress_v2', 'cuMemAllocAsync']);
    for (const { hiddenOn } of missing) expect(hiddenOn).toContain('dlsym');
    expect((await command(['doctor'], { LD_PRELOAD: layer })).stdout).toContain(`hidden by ${layer}`);
  });

  it('says in one sentence why nothing can be measured', async () => {
    const { stdout, code } = await command(['doctor'], {}, 'hide=cuInit');
    expect(stdout).toMatch(
      /^cuInit +not in this driver, though every driver has it +everything: no GPU can be found$/m,
    );
    expect(stdout).toMatch(/^error: cuInit is not offered by this driver .*: reinstall the driver, or remove the /m);
    expect(code).toBe(1);
  });
});
