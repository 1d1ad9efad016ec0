/** A user's description of a layer; it is checked here completely, before anything runs. */
import { type Step, verifySteps } from './custom-verify.js';
import { checkPlaceholders, type Placeholder, placeholders } from './placeholders.js';
import type { Size } from '../config/size.js';
import { refusedStateFile } from './state-files.js';
import type { Capabilities } from './system.js';
import type { Values } from '../config/values.js';

export const customKeys = [
  'name',
  'kind',
  'env',
  'unsetEnv',
  'prefix',
  'stateFiles',
  'setup',
  'perTenantSetup',
  'betweenLimits',
  'teardown',
  'limits',
  'verify',
  'interposes',
  'capabilities',
];

export type Command = readonly string[];

export interface CustomProfile {
  env: Record<string, string>;
  unsetEnv: readonly string[];
  prefix: readonly string[];
  stateFiles: readonly string[];
  setup: readonly Command[];
  perTenantSetup: readonly Command[];
  betweenLimits: readonly Command[];
  teardown: readonly Command[];
  memory: Size | undefined;
  sm: number | undefined;
  verify: readonly Step[];
  /** Whether the named libraries must be seen to intercept. */
  interposes: boolean;
  capabilities: Capabilities;
}

export function customProfile(values: Values): CustomProfile {
  const limits = values.nested('limits', ['memory', 'sm']);
  const [memory, sm] = [limits.size('memory', true), limits.integer('sm', 1, 100)];
  const missing: Placeholder[] = [
    ...(memory === undefined ? (['memoryBytes', 'memoryMiB'] as const) : []),
    ...(sm === undefined ? (['smPercent'] as const) : []),
  ];
  const perTenant = placeholders.filter((name) => !missing.includes(name));
  const once = perTenant.filter((name) => name !== 'tenant');
  const env = values.variables('env');
  const prefix = values.strings('prefix') ?? [];
  checkAll(values, 'env', Object.values(env), perTenant);
  checkAll(values, 'prefix', prefix, perTenant);
  return {
    env,
    unsetEnv: values.variableNames('unsetEnv'),
    prefix,
    stateFiles: stateFiles(values, 'stateFiles', perTenant),
    setup: commands(values, 'setup', once),
    perTenantSetup: commands(values, 'perTenantSetup', perTenant),
    betweenLimits: commands(values, 'betweenLimits', once),
    teardown: commands(values, 'teardown', once),
    memory,
    sm,
    verify: verifySteps(values, perTenant),
    interposes: values.choice('interposes', ['true', 'false']) !== 'false',
    capabilities: capabilities(values),
  };
}

/** Names a system may delete; `{runDir}` is its own folder. */
export function stateFiles(values: Values, key: string, allowed: readonly Placeholder[]): string[] {
  const paths = values.strings(key) ?? [];
  checkAll(values, key, paths, allowed);
  for (const path of paths) {
    const why = refusedStateFile(path, '{runDir}');
    if (why !== null) throw values.expected(key, 'files this run may delete', `${path}: ${why}.`);
  }
  return paths;
}

function checkAll(values: Values, key: string, texts: readonly string[], allowed: readonly Placeholder[]): void {
  for (const text of texts) values.within(key, () => checkPlaceholders(text, values.named(key), allowed));
}

function commands(values: Values, key: string, allowed: readonly Placeholder[]): Command[] {
  const list = values.commands(key);
  for (const argv of list) checkAll(values, key, argv, allowed);
  return list;
}

function capabilities(values: Values): Capabilities {
  const keys = ['memLimit', 'computeLimit', 'needsRoot', 'needsIdleGpu', 'changesGlobalGpuState', 'limitGranularity'];
  const nested = values.nested('capabilities', keys);
  const steps = nested.nested('limitGranularity', ['memory', 'sm']);
  const memory = steps.size('memory', false);
  const flag = (key: string) => nested.choice(key, ['true', 'false']) === 'true';
  return {
    memLimit: nested.choice('memLimit', ['none', 'perProcess', 'perTenantPool', 'hardware']) ?? 'none',
    computeLimit: nested.choice('computeLimit', ['none', 'softDutyCycle', 'smCap', 'hardware']) ?? 'none',
    needsRoot: flag('needsRoot'),
    needsIdleGpu: flag('needsIdleGpu'),
    changesGlobalGpuState: flag('changesGlobalGpuState'),
    limitGranularity: {
      memoryBytes: memory && 'bytes' in memory ? memory.bytes : null,
      smPercent: steps.integer('sm', 1, 100) ?? null,
    },
  };
}
