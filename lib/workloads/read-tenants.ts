/** The tenants of a scene from a workload's settings. docs/exec.md describes every key. */
import { isMap, type RawMap, type RawValue, Values } from '../config/values.js';
import { quoted } from '../errors/usage-error.js';
import { MENU } from '../metrics/isolation/aggressor-menu.js';
import type { AggressorKind } from '../native/addon-types.js';
import type { BuiltInAggressor, SceneTenant, TenantLimits } from './scene-type.js';
import type { Workload } from './workload-type.js';

const programKeys = ['argv', 'folder', 'env', 'passEnv', 'exit', 'ready', 'stopAfter', 'load', 'metrics'];
const commonKeys = ['name', 'role', 'limits'];
/** What only a program that is measured has. */
const victimKeys = ['stopAfter', 'load', 'metrics'];
const roles = ['victim', 'aggressor'] as const;
const tenantName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;
const MOST_TENANTS = 16;
/** The name of the program that the workload itself describes, beside its tenants. */
const OWN_VICTIM = 'victim';

/** `long-kernels`, as the keys of a file are written. */
export const taskName = (kind: AggressorKind): string => kind.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const tasks = new Map(MENU.map(({ kind }) => [taskName(kind), kind]));

/** Reads the program that some keys describe. */
type ReadProgram = (values: Values, name: string) => Workload;

/** Throws UsageError. `own`: the workload's own settings, which may have a program beside the tenants. */
export function sceneTenants(own: Values, readProgram: ReadProgram): SceneTenant[] {
  const list = own.raw('tenants');
  if (!Array.isArray(list) || list.length === 0) throw own.expected('tenants', 'a list of tenants');
  const first = own.has('argv')
    ? [ownVictim(own, readProgram)]
    : noneOf(own, [...victimKeys, 'ready', 'exit', 'limits']);
  const others = list.map((entry, place) => oneTenant(own, entry, place, readProgram));
  const all = [...first, ...others];
  check(own, all);
  return all;
}

const ownVictim = (own: Values, readProgram: ReadProgram): SceneTenant => ({
  name: OWN_VICTIM,
  role: 'victim',
  limits: limitsOf(own),
  program: readProgram(own, OWN_VICTIM),
});

function noneOf(own: Values, keys: readonly string[]): [] {
  const key = keys.find((each) => own.has(each));
  if (key === undefined) return [];
  throw own.error(
    key,
    `Expected ${own.named(key)} together with argv but received tenants alone: write it in the tenant that it is of.`,
  );
}

function check(own: Values, all: readonly SceneTenant[]): void {
  const refuse = (message: string) => own.error('tenants', message);
  if (all.length < 2 || all.length > MOST_TENANTS)
    throw refuse(`Expected ${own.owner} to have 2 to ${MOST_TENANTS} tenants but received ${all.length}.`);
  if (!all.some(({ role }) => role === 'victim'))
    throw refuse(
      `Expected a tenant of ${own.owner} to have role: victim, whose program is measured, but received none.`,
    );
  const seen = new Set<string>();
  for (const { name } of all) {
    if (seen.has(name.toLowerCase()))
      throw refuse(`Expected tenants of ${own.owner} of different names but received ${quoted(name)} twice.`);
    seen.add(name.toLowerCase());
  }
}

function oneTenant(own: Values, entry: RawValue, place: number, readProgram: ReadProgram): SceneTenant {
  const path = [...own.path, 'tenants', place];
  const nameless = `tenant ${place + 1} of ${own.owner}`;
  if (!isMap(entry)) throw own.expected('tenants', 'a list of maps', `${nameless} is none`);
  const values = new Values(entry, nameless, [...commonKeys, ...programKeys, 'task'], path);
  const name = nameIn(values);
  const named = (keys: readonly string[]) =>
    new Values(entry as RawMap, `${name ?? `tenant ${place + 1}`} of ${own.owner}`, [...commonKeys, ...keys], path);
  if (values.has('task')) return builtIn(values, named(['task', 'argv']), name);
  if (name === undefined)
    throw values.error('name', `Expected ${nameless} to have name, with which its results begin.`);
  const program = named(programKeys);
  const role = program.choice('role', roles) ?? 'victim';
  const unmeasured = role === 'victim' ? undefined : victimKeys.find((key) => program.has(key));
  if (unmeasured !== undefined)
    throw program.error(
      unmeasured,
      `Expected ${program.named(unmeasured)} to be of a victim but received it of an aggressor, which is not measured and runs until the victims have ended.`,
    );
  return { ...{ name, limits: limitsOf(program), program: readProgram(program, name) }, role } as SceneTenant;
}

function builtIn(values: Values, named: Values, name: string | undefined): BuiltInAggressor {
  if (named.has('argv'))
    throw named.error('task', `Expected argv or task of ${named.owner} but received both: leave one out.`);
  const task = values.choice('task', [...tasks.keys()]) as string;
  if ((named.choice('role', roles) ?? 'aggressor') !== 'aggressor')
    throw named.expected('role', 'aggressor', 'a task of the menu is not measured.');
  return { name: name ?? task, role: 'aggressor', limits: limitsOf(named), task: tasks.get(task) as AggressorKind };
}

function nameIn(values: Values): string | undefined {
  const name = values.text('name');
  if (name === undefined || tenantName.test(name)) return name;
  throw values.expected('name', 'at most 40 letters, digits and _ -, the first a letter or digit');
}

function limitsOf(values: Values): TenantLimits {
  const nested = values.nested('limits', ['memory', 'sm']);
  const memory = nested.size('memory', true);
  const smPercent = nested.integer('sm', 1, 100);
  return { ...(memory && { memory }), ...(smPercent !== undefined && { smPercent }) };
}
