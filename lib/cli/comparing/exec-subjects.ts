/** What `exec` runs and where: from the command line, a --config file, or the run that --resume continues. */
import { pricesFrom, type Prices } from '../../costs/read-prices.js';
import { UsageError } from '../../errors/usage-error.js';
import { parseSystem, parseSystems } from '../../systems/input/parse.js';
import { here } from '../../systems/kinds.js';
import type { System } from '../../systems/system.js';
import type { WorkloadSource } from '../../workloads/workload-type.js';
import { type CommandOptions, fromCommand, overridden } from './command-workload.js';
import type { RawComparing } from './comparing-task.js';
import type { RawDetecting } from './rounds-given.js';
import { type StoredRequest, storedSystems } from './stored-request.js';

export interface RawExecOptions extends Omit<RawComparing, 'path'>, RawDetecting, CommandOptions {
  system?: string[];
  config?: string;
}

interface Subjects {
  systems: System[];
  sources: WorkloadSource[];
  prices: Prices | null;
}

export async function subjectsOfExec(
  command: string[],
  raw: RawExecOptions,
  stored: StoredRequest | null,
): Promise<Subjects> {
  if (command.length > 0 && raw.config !== undefined)
    throw new UsageError('Expected a command or --config but received both: put the command into the file, as argv.');
  const allowMissing = raw.allowMissing ?? false;
  const surroundings = { ...here(), allowMissing };
  const configured = raw.config === undefined ? null : await configuredBy(raw.config, surroundings);
  if (configured && raw.name !== undefined)
    throw new UsageError('Expected --name together with a command but received --config: workloads there have names.');
  const sources = configured?.sources ?? sourcesOf(command, raw, stored);
  const named = parseSystems(raw.system ?? [], surroundings);
  const isGiven = raw.system !== undefined || (configured?.systems.length ?? 0) > 0;
  const systems = stored && !isGiven ? storedSystems(stored, allowMissing) : [...(configured?.systems ?? []), ...named];
  const chosen = systems.length > 0 ? systems : [parseSystem('native', surroundings)];
  const prices = configured ? configured.prices : pricesFrom(stored?.prices);
  return { systems: chosen, sources: sources.map((source) => overridden(source, raw)), prices };
}

async function configuredBy(config: string, surroundings: ReturnType<typeof here>) {
  const { readExecConfig } = await import('../../workloads/settings/exec-config.js');
  return readExecConfig(config, surroundings);
}

function sourcesOf(command: readonly string[], raw: RawExecOptions, stored: StoredRequest | null): WorkloadSource[] {
  if (command.length > 0) return [fromCommand(command, raw)];
  if (stored?.workloads) return stored.workloads.map(({ settings, folder }) => ({ settings, folder }));
  throw new UsageError(
    'Expected a command after -- or --config FILE but received neither, e.g. exec --system native -- python infer.py.',
  );
}
