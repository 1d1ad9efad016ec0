/** System objects accept the settings of the YAML file. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { SystemSettings } from '../../lib/settings-types.js';
import { systemFrom } from '../../lib/system-settings.js';
import { parseConfig } from '../../lib/systems/input/config.js';

const folder = fileURLToPath(new URL('../../examples/', import.meta.url));
const surroundings = { caller: {}, folder, allowMissing: true };

const yaml = `
systems:
  - { kind: mps, name: half, memory: 10GiB, sm: 50 }
  - kind: custom
    name: many
    interposes: false
    setup: [[mkdir, '{runDir}/x'], ['true']]
    perTenantSetup: [touch, '{runDir}/{tenant}']
    limits: { memory: 50%, sm: 30 }
    capabilities: { memLimit: perProcess, needsRoot: true, limitGranularity: { sm: 10 } }
    verify:
      - smCount: [1, 132]
      - command: { argv: ['true'], exit: 0 }
`;

describe('a system as an object', () => {
  it.each([
    ['of several kinds and types', yaml],
    ['of the documentation', readFileSync(`${folder}new-layer.yaml`, 'utf8')],
  ])('equals a system of a file %s', (_, text) => {
    const objects = (parse(text) as { systems: (string | SystemSettings)[] }).systems;
    const { systems } = parseConfig(text, 'systems.yaml', surroundings);
    expect(objects.map((each) => systemFrom(each, surroundings).source)).toEqual(systems.map(({ source }) => source));
  });

  it.each([
    [{ kind: 'custom', name: 'x', verify: [{ smCounts: [1, 2] }] }, /did you mean smCount\?/],
    [{ kind: 'hami', name: 'x' }, /Expected a kind of system/],
    [{ name: 'x' }, /an object with kind but received object/],
    [{ kind: 'mps', sm: null }, /Expected sm of a system to be text, a number.* but received null/],
    [{ kind: 'mps', sm: Number.NaN }, /but received number/],
    [{ kind: 'custom', name: 'x', env: new Map() }, /Expected env of a system .* but received object/],
    [7, /its name or an object/],
  ])('is refused: %j', (given, message) =>
    expect(() => systemFrom(given as unknown as SystemSettings, surroundings)).toThrow(message),
  );

  it('ignores undefined settings', () =>
    expect(systemFrom({ kind: 'mps', sm: undefined } as unknown as SystemSettings, surroundings).name).toBe('mps'));
});
