/** Workloads from their settings, whether of a YAML file or of a command line. docs/exec.md describes every key. */
import { resolve } from 'node:path';
import { type RawMap, type RawValue, Values } from '../config/values.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { NOT_RECORDED } from '../results/document.js';
import { checkUsed, type Combination, combinationsOf, filled } from './matrix.js';
import { loadOf, monitoringOf } from './read-load.js';
import { extractedMetrics } from './read-metrics.js';
import { notRecordedIn, withoutSecrets } from './secrets.js';
import { sceneTenants } from './read-tenants.js';
import { type Victim, victimsOf } from './scene-type.js';
import { type CoolDown, DEFAULTS, type Readiness, type Workload, type WorkloadSource } from './workload-type.js';

const keys = [
  ...['name', 'argv', 'folder', 'env', 'passEnv', 'setup', 'teardown', 'warmup', 'iterations', 'timeout', 'exit'],
  ...['coolDown', 'ready', 'stopAfter', 'load', 'monitor', 'matrix', 'metrics'],
  ...['tenants', 'limits'],
];
const workloadName = /^[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}$/;
const MOST_WORKLOADS = 200;
const MOST_WARMUP = 10_000;
const MOST_ITERATIONS = 100_000;
const MOST_SECONDS = 86_400;

/** Ids would clash, also where a disk does not tell upper from lower case. */
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

/** One, or of a matrix one for every combination. Throws UsageError. */
export function workloadsOf({ settings, folder }: WorkloadSource): Workload[] {
  refuseUnrecorded(settings);
  const values = new Values(settings, 'the workload', keys);
  const name = values.required('name');
  if (!workloadName.test(name))
    throw values.expected('name', 'at most 40 letters, digits and . _ + -, the first a letter or digit');
  const named = new Values(settings, name, keys);
  checkUsed(named, settings);
  return combinationsOf(named).map((combination) => oneWorkload(name, combination, settings, folder));
}

/** A stored workload has this text in place of a secret, and would run with it. */
function refuseUnrecorded(settings: RawMap): void {
  const names = notRecordedIn(settings);
  if (names.length === 0) return;
  const passed = names.some((name) => /(^|\.)env\./.test(name)) ? ', or name it in passEnv' : '';
  throw new UsageError(
    `${names.join(', ')} is ${NOT_RECORDED}: results do not store secrets. Give its value${passed}.`,
  );
}

function oneWorkload(name: string, combination: Combination, settings: RawMap, folder: string): Workload {
  const values = new Values(filled(settings, combination), name, keys);
  const shared = sharedOf(values, folder);
  const label = combination.label === null ? name : `${name}@${combination.label}`;
  if (!values.has('tenants')) {
    if (!values.has('limits')) return programOf(values, label, shared);
    throw values.error(
      'limits',
      `Expected limits of ${name} together with tenants but received them alone: give them to the system.`,
    );
  }
  const each = { ...shared, setup: [], teardown: [] };
  const tenants = sceneTenants(values, (own, tenant) =>
    programOf(own, tenant, own === values ? each : within(own, each)),
  );
  const [first] = victimsOf({ tenants }) as [Victim];
  return { ...first.program, ...shared, name: label, tenants };
}

/** What the programs of a scene have in common. */
type Shared = Omit<
  Workload,
  'name' | 'argv' | 'exitCodes' | 'ready' | 'stopAfterSeconds' | 'load' | 'metrics' | 'tenants'
>;

const sharedOf = (values: Values, folder: string): Shared => ({
  cwd: resolve(folder, values.text('folder') ?? '.'),
  env: environmentOf(values),
  passEnv: values.variableNames('passEnv'),
  setup: values.commands('setup'),
  teardown: values.commands('teardown'),
  warmup: values.integer('warmup', 0, MOST_WARMUP) ?? DEFAULTS.warmup,
  iterations: values.integer('iterations', 1, MOST_ITERATIONS) ?? DEFAULTS.iterations,
  timeoutSeconds: seconds(values, 'timeout', true) ?? DEFAULTS.timeoutSeconds,
  coolDown: coolDownOf(values),
  monitor: monitoringOf(values),
});

/** The program of a tenant. Its own settings override those of its scene. */
const within = (values: Values, shared: Shared): Shared => ({
  ...shared,
  cwd: resolve(shared.cwd, values.text('folder') ?? '.'),
  env: { ...shared.env, ...environmentOf(values) },
  passEnv: [...new Set([...shared.passEnv, ...values.variableNames('passEnv')])],
});

function programOf(values: Values, name: string, shared: Shared): Workload {
  const argv = values.command('argv');
  if (!argv)
    throw values.error('argv', `Expected ${values.owner} to have argv, the program and its arguments as a list.`);
  const load = loadOf(values);
  const { ready, stopAfterSeconds } = endOf(values, load !== null);
  return {
    name,
    argv,
    ...shared,
    exitCodes: exitCodesOf(values),
    ready,
    stopAfterSeconds,
    load,
    metrics: extractedMetrics(values),
  };
}

/** What the witness and the proofs are found by. */
const ours = /^(LD_PRELOAD|LD_AUDIT|GVB_.*)$/;

function environmentOf(values: Values): Record<string, string> {
  const env = values.variables('env');
  const taken = [...Object.keys(env), ...values.variableNames('passEnv')].find((name) => ours.test(name));
  if (taken === undefined) return env;
  throw values.expected(
    'env',
    'variables that a system does not need itself',
    `${taken} is set by it; preload a library with a custom system instead.`,
  );
}

/** After a load it is stopped. */
function endOf(values: Values, hasLoad: boolean): Pick<Workload, 'ready' | 'stopAfterSeconds'> {
  const ready = values.has('ready') ? readinessOf(values) : null;
  const stopAfterSeconds = seconds(values, 'stopAfter', false) ?? (hasLoad ? 0 : null);
  if (stopAfterSeconds !== null && ready === null)
    throw values.error(
      'stopAfter',
      `Expected stopAfter of ${values.owner} together with ready but received it alone: it counts from when the program is ready.`,
    );
  return { ready, stopAfterSeconds };
}

function readinessOf(values: Values): Readiness {
  const nested = values.nested('ready', ['line', 'port', 'http', 'file']);
  const given = (['line', 'port', 'http', 'file'] as const).filter((key) => nested.has(key));
  const [by, ...more] = given;
  if (by === undefined || more.length > 0)
    throw values.expected('ready', 'a map with one of line, port, http and file', `it has ${given.length}.`);
  if (by === 'port') return { by, port: nested.integer('port', 1, 65_535) as number };
  const text = nested.required(by);
  if (by === 'http') return { by, url: urlOf(nested, text) };
  return by === 'line' ? { by, text } : { by, path: text };
}

function urlOf(values: Values, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && (url.protocol === 'http:' || url.protocol === 'https:')) return url.href;
  throw values.expected('http', 'a URL such as http://127.0.0.1:8000/health');
}

function exitCodesOf(values: Values): number[] {
  const raw = values.raw('exit');
  if (raw === undefined) return [0];
  const texts = [raw].flat();
  const codes = texts.map((text: RawValue) =>
    typeof text === 'string' && /^\d{1,3}$/.test(text) ? Number(text) : 256,
  );
  if (codes.length > 0 && codes.every((code) => code <= 255)) return codes;
  throw values.expected('exit', 'an exit code from 0 to 255, or a list of them');
}

function coolDownOf(values: Values): CoolDown {
  const nested = values.nested('coolDown', ['pause', 'most', 'degrees']);
  const { pauseSeconds, mostSeconds, degrees } = DEFAULTS.coolDown;
  return {
    pauseSeconds: seconds(nested, 'pause', false) ?? pauseSeconds,
    mostSeconds: seconds(nested, 'most', false) ?? mostSeconds,
    degrees: nested.number('degrees', 'a number of degrees from 0 to 100', { least: 0, most: 100 }) ?? degrees,
  };
}

function seconds(values: Values, key: string, isAboveZero: boolean): number | undefined {
  const what = `a number of seconds ${isAboveZero ? 'above' : 'from'} 0 and up to ${MOST_SECONDS}`;
  const value = values.number(key, what, { least: 0, most: MOST_SECONDS });
  if (value === 0 && isAboveZero) throw values.expected(key, what);
  return value;
}

/** For a file that is shared: without secrets. */
export const publicSource = ({ settings, folder }: WorkloadSource): WorkloadSource => ({
  settings: withoutSecrets(settings),
  folder,
});
