/**
 * Judges every process that gives a number: by the proofs of its system, and by being under the same layer as the first
 * process, which is the only check for a system without proofs of its own.
 */
import type { RunDocument } from '../../results/document.js';
import { CLOCK_CHECK } from '../../native/clock.js';
import { BenchError } from '../../errors/bench-error.js';
import type { Description } from '../../workers/description.js';
import type { Worker } from '../../workers/worker.js';
import { type Attested, attestWorker, type Look } from './attest-worker.js';
import { sameFile } from './ld-preload.js';
import type { Attestation, System } from '../system.js';

export type ProcessCounts = NonNullable<RunDocument['system']['processes']>;

/** Invalidates the whole metric, not only the row that the process measured. */
export class UnprovenProcess extends BenchError {
  constructor(message: string) {
    super('INVALID_RESULT', message);
  }
}

export class ProcessProofs {
  readonly #system: System;
  readonly #onFailure: (reason: string) => void;
  #reference: Attested | null = null;
  #proven = 0;
  #of = 0;

  /** `onFailure` is called as soon as a proof fails. */
  constructor(system: System, onFailure: (reason: string) => void = () => {}) {
    this.#system = system;
    this.#onFailure = onFailure;
  }

  /** Over all counted processes. */
  get counts(): ProcessCounts {
    return { proven: this.#proven, of: this.#of };
  }

  /** The observations of the first process; null before. */
  get reference(): Attested | null {
    return this.#reference;
  }

  /** Checks a worker without counting it; `invalid` says why none of its numbers may be published. */
  async attest(worker: Worker, look: Look): Promise<Attested> {
    const attested = await attestWorker(worker, this.#system, look);
    const invalid = attested.attestation.invalid ?? this.#unlikeReference(attested, look);
    if (invalid === undefined) {
      this.#reference ??= attested;
      return attested;
    }
    this.#onFailure(invalid);
    return { ...attested, attestation: { ...attested.attestation, invalid } };
  }

  /** Counts a process that gave a number. */
  count(isProven: boolean): void {
    this.#of += 1;
    if (isProven) this.#proven += 1;
  }

  /**
   * Counts a program that was checked from outside; `invalid` says why its numbers may not be published, null if they
   * may.
   */
  countProgram(isProven: boolean, invalid: string | null): void {
    this.count(isProven);
    if (invalid !== null) this.#onFailure(invalid);
  }

  /** Checks and counts a worker that gave a number. Rejects with INVALID_RESULT if the number may not be published. */
  async prove(worker: Worker, look: Look): Promise<Attestation> {
    const attestation = await this.#attestAtAll(worker, look);
    this.count(isProven(attestation));
    if (attestation.invalid !== undefined)
      throw new UnprovenProcess(`${attestation.invalid} (in a process that the metric started)`);
    return attestation;
  }

  async #attestAtAll(worker: Worker, look: Look): Promise<Attestation> {
    try {
      return (await this.attest(worker, look)).attestation;
    } catch (error) {
      look.signal.throwIfAborted();
      this.count(false);
      const reason = error instanceof Error ? error.message : String(error);
      throw new UnprovenProcess(`A process that gave a number could not be checked: ${reason}`);
    }
  }

  #unlikeReference(attested: Attested, { target }: Look): string | undefined {
    if (!this.#reference) return undefined;
    const difference = differenceOf(attested, this.#reference, target.path);
    return difference === null ? undefined : `layer not active: ${difference}`;
  }
}

/** At least one proof of its system, and none that failed. The check of the clock is no proof of a system. */
export const isProven = ({ proofs, invalid }: Attestation): boolean =>
  invalid === undefined &&
  proofs.some(({ proof }) => !proof.startsWith(CLOCK_CHECK)) &&
  proofs.every(({ passed }) => passed);

function differenceOf(here: Attested, there: Attested, path: Look['target']['path']): string | null {
  const [owners, expected] = [ownersOf(here.description, path), ownersOf(there.description, path)];
  for (const [name, owner] of owners) {
    const other = expected.get(name);
    if (other !== undefined && !sameFile(other, owner))
      return `${name} belongs to ${owner} in this process, to ${other} in the first`;
  }
  const [layer, first] = [layerName(here.attestation), layerName(there.attestation)];
  if (layer !== first) return `a process is under ${layer}, the first was under ${first}`;
  return clientDifference(here.description, there.description);
}

function ownersOf({ provenance }: Description, path: Look['target']['path']): Map<string, string> {
  const nobody = 'nobody';
  return new Map([
    ...provenance.functions.map(({ name, owners }) => [name, owners[path] ?? nobody] as const),
    ...provenance.nvml.map(({ name, owners }) => [name, owners.dlsym ?? nobody] as const),
  ]);
}

const layerName = ({ layer }: Attestation): string =>
  layer ? `${layer.path} (${layer.active ? 'active' : 'inactive'}, SHA-256 ${layer.sha256 ?? 'unknown'})` : 'no layer';

function clientDifference(here: Description, there: Description): string | null {
  for (const { uuid, mpsClient } of here.inspection.devices) {
    const first = there.inspection.devices.find((device) => device.uuid === uuid);
    if (first && first.mpsClient !== mpsClient)
      return `a process is ${clientText(mpsClient)} on ${uuid}, the first was ${clientText(first.mpsClient)}`;
  }
  return null;
}

const clientText = (isClient: boolean | null): string =>
  isClient === null ? 'perhaps an MPS client' : isClient ? 'an MPS client' : 'no MPS client';
