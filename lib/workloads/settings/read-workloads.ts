/** Workloads from their settings, whether of a YAML file or of a command line. docs/exec.md describes every key. */
import { resolve } from 'node:path';
import * as v from 'valibot';
import { Place } from '../../config/setting-place.js';
import type { RawMap } from '../../config/raw.js';
import { checkKeys, keysOf, read } from '../../config/read.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { NOT_RECORDED } from '../../results/document.js';
import { checkUsed, type Combination, combinationsOf, filled } from './matrix.js';
import { loadOf, monitoringOf } from './read-load.js';
import { extractedMetrics } from './read-metrics.js';
import { sceneTenants } from './read-tenants.js';
import { victimsOf } from '../scene/scene-type.js';
import { notRecordedIn, withoutSecrets } from './secrets.js';
import { type GivenProgram, type GivenWorkload, workloadSettings } from './workload-schema.js';
import type { Victim } from '../workload-type.js';
import {
  CHECKPOINT_DEFAULTS,
  type CoolDown,
  type Readiness,
  type Workload,
  type WorkloadSource,
} from '../workload-type.js';

const MOST_WORKLOADS = 200;

/** Refuses names whose ids would clash, also where a disk does not tell upper from lower case. */
export function checkNames(workloads: readonly Workload[]): void {
  if (workloads.length > MOST_WORKLOADS)
    throw new UsageError(
      `Expected at most ${MOST_WORKLOADS} workloads, combinations included, but received ${workloads.length}.`,
    );
  const seen = new Set<string>();
  for (const { name } of workloads) {
    if (seen.has(name.toLowerCase()))
      throw new UsageError(`Expected workloads of different names but received ${quoted(name)} twice.`);
    seen.add(name.toLowerCase());
  }
}

/** Reads a workload, or with a matrix one for every combination. Throws UsageError. */
export function workloadsOf({ settings, folder }: WorkloadSource): Workload[] {
  refuseUnrecorded(settings);
  const unnamed = checkKeys(new Place(settings, 'the workload'), keysOf(workloadSettings));
  const { name } = read(v.pick(workloadSettings, ['name']), unnamed.only(['name']));
  const place = new Place(settings, name);
  checkUsed(place, settings);
  return combinationsOf(place).map((combination) => oneWorkload(name, combination, settings, folder));
}

/** Refuses a stored workload that has a text in place of a secret, with which it would run. */
function refuseUnrecorded(settings: RawMap): void {
  const names = notRecordedIn(settings);
  if (names.length === 0) return;
  const passed = names.some((name) => /(^|\.)env\./.test(name)) ? ', or name it in passEnv' : '';
  throw new UsageError(
    `${names.join(', ')} is ${NOT_RECORDED}: results do not store secrets. Give its value${passed}.`,
  );
}

function oneWorkload(name: string, combination: Combination, settings: RawMap, folder: string): Workload {
  const place = new Place(filled(settings, combination), name);
  const given = read(workloadSettings, place);
  const shared = sharedOf(given, place, folder);
  const label = combination.label === null ? name : `${name}@${combination.label}`;
  if (given.tenants === undefined) {
    if (given.limits === undefined) return { ...programOf(given, place, label, shared), ...checkpointOf(given, place) };
    throw place.error(
      'limits',
      `Expected limits of ${name} together with tenants but received them alone: give them to the system.`,
    );
  }
  if (given.checkpoint !== undefined)
    throw place.error(
      'checkpoint',
      `Expected ${name} to have tenants or checkpoint but received both: a scene is not checkpointed.`,
    );
  const each = { ...shared, setup: [], teardown: [] };
  const tenants = sceneTenants(given, place, (own, of, tenant) =>
    programOf(own, of, tenant, own === given ? each : within(own, of, each)),
  );
  const [first] = victimsOf({ tenants }) as [Victim];
  return { ...first.program, ...shared, name: label, tenants };
}

/** Settings that the programs of a scene share. */
type Shared = Omit<
  Workload,
  'name' | 'argv' | 'exitCodes' | 'ready' | 'stopAfterSeconds' | 'load' | 'metrics' | 'tenants'
>;

const sharedOf = (given: GivenWorkload, place: Place, folder: string): Shared => ({
  cwd: resolve(folder, given.folder ?? '.'),
  env: environmentOf(given, place),
  passEnv: given.passEnv ?? [],
  ...(given.record && { record: Object.fromEntries(given.record) }),
  setup: given.setup ?? [],
  teardown: given.teardown ?? [],
  warmup: given.warmup,
  iterations: given.iterations,
  timeoutSeconds: given.timeout,
  coolDown: coolDownOf(given),
  monitor: monitoringOf(given),
});

/** Settings of a tenant's program: its own override those of its scene. */
const within = (given: GivenProgram, place: Place, shared: Shared): Shared => ({
  ...shared,
  cwd: resolve(shared.cwd, given.folder ?? '.'),
  env: { ...shared.env, ...environmentOf(given, place) },
  passEnv: [...new Set([...shared.passEnv, ...(given.passEnv ?? [])])],
});

function programOf(given: GivenProgram, place: Place, name: string, shared: Shared): Workload {
  const { argv, exit = [0] } = given;
  if (!argv)
    throw place.error('argv', `Expected ${place.owner} to have argv, the program and its arguments as a list.`);
  return {
    name,
    argv,
    ...shared,
    exitCodes: exit,
    load: loadOf(given, place),
    ...endOf(given, place),
    metrics: extractedMetrics(given, place),
  };
}

/** Variables that load the witness, or that systems and proofs depend on, which a workload may not set. */
const ours = /^(LD_PRELOAD|LD_AUDIT|GVB_.*)$/;

function environmentOf({ env = {}, passEnv = [] }: GivenProgram, place: Place): Record<string, string> {
  const taken = [...Object.keys(env), ...passEnv].find((name) => ours.test(name));
  if (taken === undefined) return env;
  throw place.expected(
    'env',
    'variables that a system does not need itself',
    `${taken} is set by it; preload a library with a custom system instead.`,
  );
}

/**
 * When the program is ready and when it is stopped; with a load, it is stopped after the load unless `stopAfter` says
 * later.
 */
function endOf(given: GivenProgram, place: Place): Pick<Workload, 'ready' | 'stopAfterSeconds'> {
  const stopAfterSeconds = given.stopAfter ?? (given.load === undefined ? null : 0);
  if (stopAfterSeconds !== null && given.ready === undefined)
    throw place.error(
      'stopAfter',
      `Expected stopAfter of ${place.owner} together with ready but received it alone: it counts from when the program is ready.`,
    );
  return { ready: given.ready === undefined ? null : readinessOf(given.ready), stopAfterSeconds };
}

function checkpointOf({ checkpoint, ready }: GivenWorkload, place: Place): Pick<Workload, 'checkpoint'> {
  if (checkpoint === undefined) return {};
  if (ready === undefined)
    throw place.error(
      'checkpoint',
      `Expected checkpoint of ${place.owner} together with ready but received it alone: the program is checkpointed when it is ready.`,
    );
  const { repeat, holdSeconds } = CHECKPOINT_DEFAULTS;
  const given = checkpoint === true ? { repeat, hold: holdSeconds } : checkpoint;
  const answer = 'answer' in given && given.answer ? readinessOf(given.answer) : readinessOf(ready);
  const isAsked = ('answer' in given && given.answer !== undefined) || answer.by === 'http';
  return { checkpoint: { repeat: given.repeat, holdSeconds: given.hold, answer: isAsked ? answer : null } };
}

function readinessOf(given: NonNullable<GivenProgram['ready']>): Readiness {
  if ('line' in given) return { by: 'line', text: given.line };
  if ('port' in given) return { by: 'port', port: given.port };
  return 'http' in given ? { by: 'http', url: given.http } : { by: 'file', path: given.file };
}

const coolDownOf = ({ coolDown: { pause, most, degrees } }: GivenWorkload): CoolDown => ({
  pauseSeconds: pause,
  mostSeconds: most,
  degrees,
});

/** Removes secrets from a workload, for a file that is shared. */
export const publicSource = ({ settings, folder }: WorkloadSource): WorkloadSource => ({
  settings: withoutSecrets(settings),
  folder,
});
