/**
 * Time-slicing: several processes on the bare driver, whose contexts take turns. A device plugin's `timeSlicing`, Slurm's
 * shards and others only count more GPUs than there are; what tenants get is this.
 */
import type { Description } from '../../../workers/description.js';
import type { NativeDevice } from '../../../native/addon-types.js';
import { readGpuState } from '../../../native/gpu-state.js';
import { inPath } from '../../input/in-path.js';
import { runCommand } from '../../process/command.js';
import { joined } from '../../proof/joined.js';
import { judge } from '../../proof/judgement.js';
import type { Finding } from '../../proof/proof-finding.js';
import { NativeSystem } from '../native/native-system.js';
import type { Prepared, ProfileOptions } from '../../profile.js';
import type { Attestation, Evidence } from '../../system.js';
import { sliceIn } from './compute-policy.js';

const POLICY_MS = 10_000;

export class TimeSlicingSystem extends NativeSystem {
  override readonly kind = 'time-slicing';
  readonly #path: string;
  #slice = 'not read';

  constructor(options: ProfileOptions) {
    super(options);
    this.#path = options.caller.PATH ?? '';
  }

  override get settings(): Record<string, string> {
    return { ...super.settings, 'compute-policy.timeslice': this.#slice };
  }

  override async attest(description: Description, evidence?: Evidence): Promise<Attestation> {
    const look = this.look(evidence);
    const { gpu, target } = this.prepared.run;
    const device = description.inspection.devices.find(({ uuid }) => uuid === gpu.uuid);
    const findings = [computeMode(device)];
    if (look.phase !== 'process') {
      const processes = (await readGpuState(target, gpu.uuid, 'all'))?.processes ?? null;
      findings.push(plainClient(description.pid, processes));
    }
    return joined(judge(description, look, null, findings), await super.attest(description, evidence));
  }

  /** The policy is of the driver and all its users: it is read, never set. */
  protected override async begin({ run }: Prepared): Promise<void> {
    const program = inPath('nvidia-smi', this.#path);
    if (run.target.simulatedDriver !== null || program === null) return;
    const { output, exit } = await runCommand([program, 'compute-policy', '-l'], {
      environment: { PATH: this.#path },
      cwd: '/',
      timeoutMs: POLICY_MS,
    });
    if (exit === 0) this.#slice = sliceIn(output, run.gpu.index) ?? this.#slice;
  }
}

function computeMode(device: NativeDevice | undefined): Finding {
  const mode = device?.computeMode ?? null;
  return {
    proof: 'compute mode',
    passed: mode === null ? null : mode === 'default',
    detail: mode ?? 'the driver does not report it',
    advice: 'Let several processes use the GPU: sudo nvidia-smi -i 0 -c DEFAULT.',
  };
}

/** A client of MPS shares the server's context, so it takes no turns of its own. */
function plainClient(pid: number, processes: readonly { pid: number; mpsClient: boolean | null }[] | null): Finding {
  const found = processes?.find((process) => process.pid === pid);
  return {
    proof: "a compute process of its own in NVML's list",
    passed: found === undefined || found.mpsClient === null ? null : !found.mpsClient,
    detail: !found
      ? `NVML does not list PID ${pid}: it has no context, or shows another PID`
      : found.mpsClient
        ? `PID ${pid} is listed as a client of MPS`
        : `PID ${pid} is listed as no client of MPS`,
    advice: 'Stop the MPS daemon: its clients do not take turns.',
  };
}
