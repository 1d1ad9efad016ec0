/** A system its user describes: variables, commands, and how its layer is recognised. */
import { BenchError } from '../../../errors/bench-error.js';
import type { Description } from '../../../workers/description.js';
import { asyncMap } from '../../process/async-map.js';
import { advice, isProof, layerInfo } from '../../proof/attestation.js';
import type { Finding } from '../../proof/proof-finding.js';
import { type CommandOptions, mustSucceed, runCommand } from '../../process/command.js';
import {
  interceptionSeen,
  intercepts,
  namedInterceptor,
  namedLibraries,
  ownInterceptors,
} from './custom-interception.js';
import type { Command, CustomProfile } from './custom-profile.js';
import { judgeStep } from './custom-proofs.js';
import { judge } from '../../proof/judgement.js';
import { whyNotPreloaded } from '../../process/loader-path.js';
import { fill, type Placeholder, usesPlaceholder } from '../../input/placeholders.js';
import { type Prepared, Profile, type ProfileOptions, type WantedLimits } from '../../profile.js';
import { resolveSize } from '../../../config/size.js';
import { quoted, UsageError } from '../../../errors/usage-error.js';
import type { Attestation, Canary, Evidence, RunState, Tenant } from '../../system.js';
import { SOLE_TENANT } from '../../system.js';
import { unverifiedLabel } from '../../system-name.js';

interface CustomOptions extends Omit<ProfileOptions, 'layerFolders'> {
  profile: CustomProfile;
  /** Why it cannot be measured here: a preloaded library is missing. */
  missing?: string;
  /** Timeout of each command. */
  commandTimeoutMs?: number;
}

/**
 * The dynamic loader continues without a library that it cannot load, so even an unverified system would be a different
 * one.
 */
function missingPreloads({ preload }: Description): Finding[] {
  const missing = preload.filter(({ source, mapped }) => source === 'LD_PRELOAD' && mapped === null);
  return missing.map(({ entry }) => ({
    proof: 'LD_PRELOAD entry is mapped',
    passed: false,
    detail: `${entry} is not mapped`,
    advice: advice.notMapped,
  }));
}

export class CustomSystem extends Profile {
  readonly kind = 'custom';
  readonly limitsAreFixed = true;
  override readonly unavailable: string | null;
  /** The layer is unknown, and staggered starts are safe for all. */
  override readonly staggerStarts = true;
  /** True if no commands run between limits and tenants share no state files. */
  override readonly limitsCoexist: boolean;
  readonly #profile: CustomProfile;
  readonly #timeoutMs: number | undefined;

  constructor(options: CustomOptions) {
    super(options, options.profile.verify.length > 0 ? options.name : unverifiedLabel(options.name));
    this.#profile = options.profile;
    this.unavailable = options.missing ?? null;
    const { betweenLimits, stateFiles } = this.#profile;
    this.limitsCoexist = betweenLimits.length === 0 && stateFiles.every((path) => usesPlaceholder(path, 'tenant'));
    this.#timeoutMs = options.commandTimeoutMs;
  }

  get capabilities() {
    return this.#profile.capabilities;
  }

  override argvPrefix(tenant: Tenant = SOLE_TENANT): string[] {
    return this.#profile.prefix.map(this.#filler(tenant));
  }

  override canaries(_tenant: Tenant = SOLE_TENANT): Canary[] {
    const { gpu } = this.prepared.run;
    return this.#profile.verify.flatMap((step) =>
      step.step === 'allocationCanary'
        ? [{ bytes: resolveSize(step.size, gpu.memoryBytes, 'allocationCanary'), expected: 'refused' as const }]
        : [],
    );
  }

  override async prepareTenant(tenant: Tenant): Promise<void> {
    await this.prepared.files.claim(this.#stateFiles(tenant, true));
    await this.#runAll('perTenantSetup', tenant);
  }

  ownStateFiles(tenant: Tenant): string[] {
    return this.#stateFiles(tenant, true);
  }

  override async betweenLimits(): Promise<void> {
    await this.#runAll('betweenLimits', SOLE_TENANT);
  }

  override async reap(tenant: Tenant): Promise<void> {
    const left = await this.prepared.files.remove(this.#stateFiles(tenant, true));
    if (left.length > 0) throw new BenchError('SYSTEM', `${this.name}: ${left.join('; ')}.`);
  }

  async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = this.look(evidence);
    const { gpu, signal } = this.prepared.run;
    const filler = this.#filler(look.tenant);
    const run = (argv: readonly string[]) => runCommand(argv, this.#commandOptions(look.tenant));
    const context = { description, evidence: look, gpu, fill: filler, run, signal };
    const steps = await asyncMap(this.#profile.verify, (step) => judgeStep(step, context));
    const libraries = namedLibraries(description, this.variables(look.tenant));
    const interception = this.#profile.interposes ? intercepts(description, libraries) : null;
    // Seen interception is no substitute for verify steps none of which could be checked.
    const counts = interception && (!interception.passed || steps.length === 0 || steps.some(isProof));
    const findings = [...missingPreloads(description), ...(counts ? [interception] : []), ...steps];
    const owner = namedInterceptor(description, libraries) ?? libraries[0] ?? ownInterceptors(description)[0]?.owner;
    const layer = owner === undefined ? null : await layerInfo(description, owner);
    const judged = judge(description, look, layer, findings);
    const unverified = this.#profile.verify.length > 0 ? [] : [this.#unverified(description)];
    return { ...judged, warnings: [...judged.warnings, ...unverified] };
  }

  /** Warning for a system without proofs. */
  #unverified(description: Description): string {
    const seen = interceptionSeen(description);
    return `${this.name}: observed: ${seen}. Not verified: its limits, and whether it does anything else; add verify steps (--config) to prove them.`;
  }

  protected override wantedLimits(): WantedLimits {
    return this.#profile;
  }

  protected override checkRun(run: RunState): void {
    super.checkRun(run);
    for (const step of this.#profile.verify)
      if (step.step === 'allocationCanary')
        resolveSize(step.size, run.gpu.memoryBytes, `allocationCanary of ${this.name}`);
  }

  protected override async begin({ files, directory }: Prepared): Promise<void> {
    this.#checkPreload(directory);
    await files.claim(this.#stateFiles(SOLE_TENANT, false));
    await this.#runAll('setup', SOLE_TENANT);
  }

  /** Runs every command even if an earlier one failed; an abort does not skip the clean-up. */
  protected override async end(): Promise<string[]> {
    const left = await asyncMap(this.#profile.teardown, async (argv) => {
      try {
        await this.#runOne('teardown', argv, SOLE_TENANT, {});
        return [];
      } catch (error) {
        return [(error as Error).message.replace(/\.$/, '')];
      }
    });
    return left.flat();
  }

  protected override inherited(): Record<string, string> {
    const kept = Object.entries(super.inherited()).filter(([name]) => !this.#profile.unsetEnv.includes(name));
    return Object.fromEntries(kept);
  }

  protected variables(tenant: Tenant): Record<string, string> {
    const filler = this.#filler(tenant);
    return Object.fromEntries(Object.entries(this.#profile.env).map(([name, value]) => [name, filler(value)]));
  }

  /** The run's directory is below TMPDIR. */
  #checkPreload(directory: string): void {
    const fault = usesPlaceholder(this.#profile.env.LD_PRELOAD ?? '', 'runDir') ? whyNotPreloaded(directory) : null;
    if (fault !== null)
      throw new UsageError(
        `Expected {runDir} in LD_PRELOAD of ${this.name} to be a path that can be preloaded but received ${quoted(directory)}: ${fault.replace(/:.*/, '')}. Set TMPDIR to another folder.`,
      );
  }

  /** The files of one tenant, or those shared by all. */
  #stateFiles(tenant: Tenant, ofTenant: boolean): string[] {
    const chosen = this.#profile.stateFiles.filter((path) => usesPlaceholder(path, 'tenant') === ofTenant);
    return chosen.map(this.#filler(tenant));
  }

  async #runAll(key: 'setup' | 'perTenantSetup' | 'betweenLimits', tenant: Tenant): Promise<void> {
    const { signal, timeoutMs } = this.prepared.run;
    const bounds = { signal, ...(timeoutMs !== undefined && { timeoutMs }) };
    await asyncMap(this.#profile[key], (argv) => this.#runOne(key, argv, tenant, bounds));
  }

  #runOne(key: string, argv: Command, tenant: Tenant, bounds: Pick<CommandOptions, 'signal' | 'timeoutMs'>) {
    const options = { ...bounds, ...this.#commandOptions(tenant), signal: bounds.signal };
    return mustSucceed(`${key} of ${this.name}`, argv.map(this.#filler(tenant)), options);
  }

  /** The coordinator is never under the layer, so commands run without its preload. */
  #commandOptions(tenant: Tenant): CommandOptions {
    const { LD_PRELOAD: _, ...environment } = this.environment(tenant);
    const { run, directory } = this.prepared;
    const timeout = this.#timeoutMs === undefined ? {} : { timeoutMs: this.#timeoutMs };
    return { environment, cwd: directory, signal: run.signal, ...timeout };
  }

  #filler(tenant: Tenant): (text: string) => string {
    const { run, directory } = this.prepared;
    const { memoryBytes, smPercent } = this.limits(tenant);
    const values: Record<Placeholder, string> = {
      memoryBytes: `${memoryBytes ?? ''}`,
      memoryMiB: memoryBytes === null ? '' : `${Math.floor(memoryBytes / 2 ** 20)}`,
      smPercent: `${smPercent ?? ''}`,
      gpuUuid: run.gpu.uuid,
      gpuIndex: `${run.gpu.index}`,
      tenant: `${tenant.id}`,
      runDir: directory,
    };
    return (text) => fill(text, values);
  }
}
