/** `custom`: any other layer, as its user describes it. It is checked here completely, before anything runs. */
import type * as v from 'valibot';
import {
  choice,
  commands,
  flag,
  key,
  needed,
  percent,
  size,
  texts,
  variableNames,
  variables,
} from '../../../config/schema.js';
import { label } from '../../../config/label.js';
import { isMap } from '../../../config/raw.js';
import type { Place } from '../../../config/setting-place.js';
import { list, settings } from '../../../config/read.js';
import { CustomSystem } from './custom-system.js';
import type { CustomProfile } from './custom-profile.js';
import { checkLibrary, unsplit } from '../../process/library.js';
import { type Placeholder, placeholders } from '../../input/placeholders.js';
import { absolutePreloads, fixedPreloads } from '../../input/source.js';
import type { Capabilities } from '../../system.js';
import { kindOf } from '../define.js';
import { notAvailable } from '../library.js';
import { checkEach, checkStateFiles } from '../state-files.js';
import { verifySchema, verifySteps } from './custom-verify.js';

const memoryLimits = ['none', 'perProcess', 'perTenantPool', 'hardware'] as const;
const computeLimits = ['none', 'softDutyCycle', 'smCap', 'hardware'] as const;

const customSettings = settings({
  name: needed(label(), 'Name of the system in documents.'),
  env: key(variables(), 'Variables of its processes.'),
  unsetEnv: key(variableNames(), 'Inherited variables that its processes do not get.'),
  prefix: key(texts(), 'A command in front of the process, e.g. `[taskset, -c, "0"]`.'),
  stateFiles: key(
    texts(),
    'Files of the layer: must not exist before a tenant, are deleted after it. Absolute or in `{runDir}`, no patterns; with `{tenant}` one per tenant.',
  ),
  setup: key(commands(), 'Commands that run once, before the first process.'),
  perTenantSetup: key(commands(), 'Commands before the first process of each tenant.'),
  betweenLimits: key(
    commands(),
    'Commands after all tenants have ended and before the first with other limits starts.',
  ),
  teardown: key(commands(), 'Commands that run once, after the last process.'),
  limits: key(
    settings({
      memory: key(size(), 'Memory limit, a size or per cent of the card.'),
      sm: key(percent(), 'Compute limit, 1 to 100.'),
    }),
    'The values of the placeholders, and the limits that metrics expect.',
  ),
  verify: key(
    list(verifySchema, 'a list of steps'),
    'Proofs that the layer is active; if one fails, there are no numbers. Without any the system is called `NAME (unverified)`.',
  ),
  interposes: key(flag(), 'Whether the libraries that it names must be seen to intercept driver functions.', true),
  capabilities: key(
    settings({
      memLimit: key(choice(memoryLimits), 'How its memory limit holds.', 'none'),
      computeLimit: key(
        choice(computeLimits),
        'How its compute limit holds: `softDutyCycle` a share of time, `smCap` multiprocessors at once.',
        'none',
      ),
      needsRoot: key(flag(), 'Whether only root can set it up.', false),
      needsIdleGpu: key(flag(), 'Whether nothing else may use the GPU.', false),
      changesGlobalGpuState: key(flag(), 'Whether it changes the GPU for everybody.', false),
      limitGranularity: key(
        settings({
          memory: key(size({ mayBePercent: false }), 'Smallest step of the memory limit.'),
          sm: key(percent(), 'Smallest step of the compute limit, in per cent.'),
        }),
        'Steps in which its limits can be set.',
        {},
      ),
    }),
    'What the layer can do.',
    {},
  ),
});

type Given = v.InferOutput<typeof customSettings>;

function profileOf(given: Given, place: Place): CustomProfile {
  const { memory, sm } = given.limits ?? {};
  const missing: Placeholder[] = [
    ...(memory === undefined ? (['memoryBytes', 'memoryMiB'] as const) : []),
    ...(sm === undefined ? (['smPercent'] as const) : []),
  ];
  const perTenant = placeholders.filter((name) => !missing.includes(name));
  const once = perTenant.filter((name) => name !== 'tenant');
  const { env = {}, prefix = [], stateFiles = [] } = given;
  checkEach(Object.values(env), 'env', place, perTenant);
  checkEach(prefix, 'prefix', place, perTenant);
  checkStateFiles(stateFiles, place, perTenant);
  for (const name of ['setup', 'betweenLimits', 'teardown'] as const)
    for (const argv of given[name] ?? []) checkEach(argv, name, place, once);
  for (const argv of given.perTenantSetup ?? []) checkEach(argv, 'perTenantSetup', place, perTenant);
  return {
    env,
    unsetEnv: given.unsetEnv ?? [],
    prefix,
    stateFiles,
    setup: given.setup ?? [],
    perTenantSetup: given.perTenantSetup ?? [],
    betweenLimits: given.betweenLimits ?? [],
    teardown: given.teardown ?? [],
    memory,
    sm,
    verify: verifySteps(given.verify ?? [], place, perTenant),
    interposes: given.interposes,
    capabilities: capabilitiesOf(given.capabilities),
  };
}

function capabilitiesOf({ limitGranularity: { memory, sm }, ...given }: Given['capabilities']): Capabilities {
  return {
    ...given,
    limitGranularity: {
      memoryBytes: memory && 'bytes' in memory ? memory.bytes : null,
      smPercent: sm ?? null,
    },
  };
}

export const custom = kindOf({
  about: 'any other layer, as its user describes it',
  settings: customSettings,
  inside: {
    container: true,
    mig: true,
    mps: ({ limits }) =>
      limits === undefined || !isMap(limits) || limits.sm === undefined
        ? null
        : 'no metric could tell two compute limits apart: leave sm out of its limits, and give sm of mps',
  },
  create({ settings: given, name, place, surroundings: { caller, folder, allowMissing } }) {
    const described = profileOf(given, place);
    const preload = described.env.LD_PRELOAD;
    const fixed = fixedPreloads(preload ?? '');
    const missing = allowMissing ? fixed.flatMap((path) => notAvailable(path, folder) ?? []) : [];
    if (missing.length === 0)
      for (const path of fixed)
        place.within('env', () => checkLibrary(unsplit(path, preload ?? '', folder), `LD_PRELOAD of ${name}`, folder));
    const env = { ...described.env, ...(preload !== undefined && { LD_PRELOAD: absolutePreloads(preload, folder) }) };
    return new CustomSystem({
      name,
      caller,
      profile: { ...described, env },
      ...(missing[0] !== undefined && { missing: missing[0] }),
    });
  },
  resolved(settings, folder) {
    const { env } = settings;
    if (env === undefined || !isMap(env) || typeof env.LD_PRELOAD !== 'string') return settings;
    return { ...settings, env: { ...env, LD_PRELOAD: absolutePreloads(env.LD_PRELOAD, folder) } };
  },
});
