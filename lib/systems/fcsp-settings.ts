/**
 * The variables in BUD-FCSP's documents (fcsp_vs_mig.md of BudEcosystem/GPU-Virt-Bench). No binary is public, so the
 * effect on a library is unknown.
 */
import type { Values } from '../config/values.js';

export const modes = ['none', 'balanced', 'strict', 'adaptive'] as const;
export const memoryModes = ['hard', 'soft'] as const;

type Kind = 'percent' | 'flag' | 'integer' | 'text';

/** Configuration key, with its variable and type. */
const table = {
  tenantFloor: ['BUD_TENANT_FLOOR_PCT', 'percent'],
  sharedPool: ['BUD_SHARED_POOL_PCT', 'percent'],
  burstMax: ['BUD_BURST_MAX_PCT', 'percent'],
  adaptiveMaxBurst: ['BUD_ADAPTIVE_SM_MAX_BURST_PCT', 'percent'],
  cooperative: ['BUD_COOPERATIVE_MODE', 'flag'],
  pidController: ['BUD_USE_PID_CONTROLLER', 'flag'],
  observerIntervalUs: ['BUD_OBSERVER_INTERVAL_US', 'integer'],
  fastPath: ['BUD_FAST_PATH_ENABLED', 'flag'],
  metrics: ['BUD_ENABLE_METRICS', 'flag'],
  logLevel: ['BUD_LOG_LEVEL', 'text'],
  uvm: ['BUD_UVM_ENABLED', 'flag'],
  uvmProfile: ['BUD_UVM_PROFILE', 'text'],
  uvmPressureWarning: ['BUD_UVM_PRESSURE_WARNING_PCT', 'percent'],
  uvmPressureHigh: ['BUD_UVM_PRESSURE_HIGH_PCT', 'percent'],
  uvmPressureCritical: ['BUD_UVM_PRESSURE_CRITICAL_PCT', 'percent'],
  prefetch: ['BUD_PREFETCH_ENABLED', 'flag'],
  prefetchMaxSizeMb: ['BUD_PREFETCH_MAX_SIZE_MB', 'integer'],
  ncclStreamClass: ['BUD_STREAM_CLASS_NCCL', 'text'],
} as const satisfies Record<string, readonly [string, Kind]>;

type SettingKey = keyof typeof table;

export const settingKeys = Object.keys(table) as SettingKey[];

/** Sub-profiles from the documents, in their variables. */
export const presets = {
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

export const presetNames = Object.keys(presets) as (keyof typeof presets)[];

/** First the preset, then single settings, then `env`. */
export function fcspVariables(values: Values): Record<string, string> {
  const preset = values.choice('preset', presetNames);
  const mode = values.choice('mode', modes);
  const memoryMode = values.choice('memoryMode', memoryModes);
  return {
    ...(preset && presets[preset]),
    ...(mode && { BUD_ISOLATION_MODE: mode }),
    ...(memoryMode && { BUD_MEMORY_LIMIT_MODE: memoryMode }),
    ...singleSettings(values),
    ...values.variables('env'),
  };
}

function singleSettings(values: Values): Record<string, string> {
  const set: Record<string, string> = {};
  for (const key of settingKeys) {
    const [variable, kind] = table[key];
    const value = read(values, key, kind);
    if (value !== undefined) set[variable] = value;
  }
  return set;
}

function read(values: Values, key: SettingKey, kind: Kind): string | undefined {
  if (kind === 'text') return values.text(key);
  if (kind === 'flag') {
    const flag = values.choice(key, ['true', 'false', '1', '0']);
    return flag && (flag === 'true' || flag === '1' ? '1' : '0');
  }
  return values.integer(key, 0, kind === 'percent' ? 100 : 1_000_000_000)?.toString();
}
