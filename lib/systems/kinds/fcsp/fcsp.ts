/**
 * `fcsp`: BUD-FCSP, by the variables in its documents (fcsp_vs_mig.md of BudEcosystem/GPU-Virt-Bench). No binary is
 * public, so the effect on a library is unknown.
 */
import type * as v from 'valibot';
import {
  choice,
  type Field,
  integer,
  key,
  percent,
  scalar,
  size,
  text,
  texts,
  variables,
} from '../../../config/schema.js';
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';
import { FcspSystem } from './fcsp-system.js';
import { kindOf } from '../define.js';
import { libraryOf } from '../library.js';
import { checkStateFiles } from '../state-files.js';

const modes = ['none', 'balanced', 'strict', 'adaptive'] as const;
const memoryModes = ['hard', 'soft'] as const;

/** Its documents write 1 and 0. */
const flag = (): Field<boolean, '0' | '1'> =>
  scalar('true, false, 1 or 0', { json: { type: 'boolean' } }, (given) =>
    given === 'true' || given === '1' ? '1' : given === 'false' || given === '0' ? '0' : undefined,
  );
const count = () => integer(0, 1_000_000_000);
const share = () => integer(0, 100);

/** Settings that become one variable each. */
const single = {
  tenantFloor: ['BUD_TENANT_FLOOR_PCT', share()],
  sharedPool: ['BUD_SHARED_POOL_PCT', share()],
  burstMax: ['BUD_BURST_MAX_PCT', share()],
  adaptiveMaxBurst: ['BUD_ADAPTIVE_SM_MAX_BURST_PCT', share()],
  cooperative: ['BUD_COOPERATIVE_MODE', flag()],
  pidController: ['BUD_USE_PID_CONTROLLER', flag()],
  observerIntervalUs: ['BUD_OBSERVER_INTERVAL_US', count()],
  fastPath: ['BUD_FAST_PATH_ENABLED', flag()],
  metrics: ['BUD_ENABLE_METRICS', flag()],
  logLevel: ['BUD_LOG_LEVEL', text()],
  uvm: ['BUD_UVM_ENABLED', flag()],
  uvmProfile: ['BUD_UVM_PROFILE', text()],
  uvmPressureWarning: ['BUD_UVM_PRESSURE_WARNING_PCT', share()],
  uvmPressureHigh: ['BUD_UVM_PRESSURE_HIGH_PCT', share()],
  uvmPressureCritical: ['BUD_UVM_PRESSURE_CRITICAL_PCT', share()],
  prefetch: ['BUD_PREFETCH_ENABLED', flag()],
  prefetchMaxSizeMb: ['BUD_PREFETCH_MAX_SIZE_MB', count()],
  ncclStreamClass: ['BUD_STREAM_CLASS_NCCL', text()],
} as const satisfies Record<string, readonly [variable: string, v.GenericSchema]>;

type Single = { [Key in keyof typeof single]: v.OptionalSchema<(typeof single)[Key][1], undefined> };

const singleEntries = Object.fromEntries(
  Object.entries(single).map(([name, [variable, schema]]) => [name, key(schema, `The variable ${variable}.`)]),
) as unknown as Single;

/** Sub-profiles from the documents, in their variables. */
const presets = {
  inference: {
    BUD_ISOLATION_MODE: 'adaptive',
    BUD_TENANT_FLOOR_PCT: '10',
    BUD_SHARED_POOL_PCT: '30',
    BUD_BURST_MAX_PCT: '60',
    BUD_ADAPTIVE_SM_MAX_BURST_PCT: '100',
  },
  fair: {
    BUD_ISOLATION_MODE: 'balanced',
    BUD_TENANT_FLOOR_PCT: '40',
    BUD_SHARED_POOL_PCT: '30',
    BUD_BURST_MAX_PCT: '30',
    BUD_COOPERATIVE_MODE: '1',
  },
  strict: {
    BUD_ISOLATION_MODE: 'strict',
    BUD_TENANT_FLOOR_PCT: '100',
    BUD_SHARED_POOL_PCT: '0',
    BUD_BURST_MAX_PCT: '0',
  },
  'low-latency': { BUD_FAST_PATH_ENABLED: '1', BUD_ENABLE_METRICS: '0', BUD_LOG_LEVEL: 'error' },
  'llm-uvm': {
    BUD_UVM_ENABLED: '1',
    BUD_UVM_PROFILE: 'llm_inference',
    BUD_UVM_PRESSURE_WARNING_PCT: '70',
    BUD_UVM_PRESSURE_HIGH_PCT: '85',
    BUD_UVM_PRESSURE_CRITICAL_PCT: '95',
    BUD_PREFETCH_ENABLED: '1',
    BUD_PREFETCH_MAX_SIZE_MB: '64',
  },
} as const satisfies Record<string, Record<string, string>>;

const presetNames = Object.keys(presets) as (keyof typeof presets)[];

export const fcspSettings = settings({
  name: nameOf('fcsp'),
  library: key(
    text('FILE'),
    'The library of the layer, which has no usual place. Without one the system is unavailable.',
  ),
  memory: key(size(), 'Memory limit of all processes of a tenant together. Default: none.'),
  sm: key(percent(), 'Percentage of GPU time, 1 to 100. Default: none.'),
  preset: key(choice(presetNames), 'A sub-profile of its documents, which the settings below override. Default: none.'),
  mode: key(choice(modes), 'The variable BUD_ISOLATION_MODE.'),
  memoryMode: key(choice(memoryModes), 'The variable BUD_MEMORY_LIMIT_MODE.'),
  ...singleEntries,
  env: key(variables(), 'Further variables, which override those of the settings.'),
  stateFiles: key(
    texts(),
    'Files of the layer: must not exist before a tenant, are deleted after it. Default: what is seen to appear.',
  ),
});

/** First the preset, then single settings, then `env`. */
export function fcspVariables(given: v.InferOutput<typeof fcspSettings>): Record<string, string> {
  const { preset, mode, memoryMode } = given;
  const named = Object.entries(single).flatMap(([name, [variable]]) => {
    const value = given[name as keyof typeof single];
    return value === undefined ? [] : [[variable, String(value)] as const];
  });
  return {
    ...(preset && presets[preset]),
    ...(mode && { BUD_ISOLATION_MODE: mode }),
    ...(memoryMode && { BUD_MEMORY_LIMIT_MODE: memoryMode }),
    ...Object.fromEntries(named),
    ...given.env,
  };
}

export const fcsp = kindOf({
  about: 'BUD-FCSP, by the variables in its documents',
  settings: fcspSettings,
  inside: {
    container: true,
    mps: ({ sm }) =>
      sm === undefined
        ? null
        : 'nothing is known of its compute limit in a client of MPS: leave sm out, and give sm of mps',
  },
  create({ settings: given, name, place, surroundings }) {
    const { library, memory, sm, stateFiles = [] } = given;
    checkStateFiles(stateFiles, place, []);
    return new FcspSystem({
      name,
      caller: surroundings.caller,
      ...libraryOf(library, place, surroundings),
      memory,
      sm,
      variables: fcspVariables(given),
      stateFiles,
    });
  },
});
