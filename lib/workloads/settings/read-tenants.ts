/** The tenants of a scene from a workload's settings. docs/exec.md describes every key. */
import { Place } from '../../config/setting-place.js';
import type { RawMap } from '../../config/raw.js';
import { read } from '../../config/read.js';
import { quoted } from '../../errors/usage-error.js';
import { taskOf } from './task-names.js';
import {
  type GivenLimits,
  type GivenProgram,
  type GivenTenant,
  tenantName,
  tenantSettings,
} from './workload-schema.js';
import type { BuiltInAggressor, SceneTenant, TenantLimits } from '../workload-type.js';
import type { Workload } from '../workload-type.js';

/** Settings of programs that are measured, which an aggressor does not have. */
const victimKeys = ['stopAfter', 'load', 'metrics'] as const;
const programKeys = ['argv', 'folder', 'env', 'passEnv', 'exit', 'ready', ...victimKeys] as const;
const MOST_TENANTS = 16;
/** The name of the program that the workload itself describes, beside its tenants. */
const OWN_VICTIM = 'victim';

/** Reads the program that some settings describe. */
type ReadProgram = (given: GivenProgram, place: Place, name: string) => Workload;

type Own = GivenProgram & { tenants?: readonly RawMap[] | undefined; limits?: GivenLimits | undefined };

/**
 * Reads the tenants of a scene. Throws UsageError. `own`: the workload's own settings, which may have a program beside
 * the tenants.
 */
export function sceneTenants(own: Own, place: Place, readProgram: ReadProgram): SceneTenant[] {
  const { tenants = [] } = own;
  if (tenants.length === 0) throw place.expected('tenants', 'a list of tenants');
  const first = own.argv
    ? [ownVictim(own, place, readProgram)]
    : noneOf(place, [...victimKeys, 'ready', 'exit', 'limits']);
  const all = [...first, ...tenants.map((_, index) => oneTenant(place, index, readProgram))];
  check(place, all);
  return all;
}

const ownVictim = (own: Own, place: Place, readProgram: ReadProgram): SceneTenant => ({
  name: OWN_VICTIM,
  role: 'victim',
  limits: limitsOf(own.limits),
  program: readProgram(own, place, OWN_VICTIM),
});

function noneOf(own: Place, keys: readonly string[]): [] {
  const key = keys.find((each) => own.has(each));
  if (key === undefined) return [];
  throw own.error(
    key,
    `Expected ${own.named(key)} together with argv but received tenants alone: write it in the tenant that it is of.`,
  );
}

function check(own: Place, all: readonly SceneTenant[]): void {
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

function oneTenant(own: Place, index: number, readProgram: ReadProgram): SceneTenant {
  const { raw, path } = own.entry('tenants', index);
  const nameless = `tenant ${index + 1} of ${own.owner}`;
  const isNamed = typeof raw.name === 'string' && tenantName.test(raw.name);
  const named = isNamed ? `${raw.name as string} of ${own.owner}` : nameless;
  const place = new Place(raw, named, path);
  const given = read(tenantSettings, place);
  if (given.task !== undefined) return builtIn(given, given.task, place);
  const { name, role = 'victim' } = given;
  if (name === undefined) throw place.error('name', `Expected ${nameless} to have name, with which its results begin.`);
  const unmeasured = role === 'victim' ? undefined : victimKeys.find((key) => given[key] !== undefined);
  if (unmeasured !== undefined)
    throw place.error(
      unmeasured,
      `Expected ${place.named(unmeasured)} to be of a victim but received it of an aggressor, which is not measured and runs until the victims have ended.`,
    );
  const tenant = { name, limits: limitsOf(given.limits), program: readProgram(given, place, name) };
  return role === 'victim' ? { ...tenant, role } : { ...tenant, role };
}

function builtIn(given: GivenTenant, task: string, place: Place): BuiltInAggressor {
  const other = programKeys.find((key) => given[key] !== undefined);
  if (other !== undefined)
    throw place.error('task', `Expected ${other} or task of ${place.owner} but received both: leave one out.`);
  if (given.role === 'victim') throw place.expected('role', 'aggressor', 'a task of the menu is not measured.');
  return { name: given.name ?? task, role: 'aggressor', limits: limitsOf(given.limits), task: taskOf(task) };
}

const limitsOf = ({ memory, sm }: GivenLimits = {}): TenantLimits => ({
  ...(memory && { memory }),
  ...(sm !== undefined && { smPercent: sm }),
});
