/**
 * Whether the processes of a program were under its system: by the files that were mapped in them, and by who owned the
 * driver's functions there, compared with a worker in the same environment that was proven in the same round.
 */
import type { Interceptor } from '../../systems/proof/interception.js';
import { sameFile } from '../../systems/proof/ld-preload.js';
import { type Container, type FirstProcess, namespacesOf } from '../../workers/container/container.js';
import { instanceProof, type PlacedProcesses } from './instance-processes.js';
import { type MpsClients, mpsProof } from './mps-clients.js';
import { hooks } from './hooking-files.js';
import { escapeIn, interceptedIn, isComparable } from './driver-owners.js';
import { type ProcessProof, worstOf } from './proof-state.js';
import { isForked, isWitness, type SeenProcess, usesGpu, who } from './seen-process.js';

/** A container as its processes are seen from outside. */
type ContainerSeen = Pick<Container, 'id' | 'name'> & { first: Pick<FirstProcess, 'pid' | 'namespaces'> | null };

interface PodSeen {
  name: string;
  /** Which of the files that were mapped could be a layer. */
  hooking: readonly string[];
}

export interface Expected {
  /** Name of the system that the program should be under. */
  system: string;
  /** Whether its processes use the bare driver. Default false. */
  isBare?: boolean;
  /** Whether processes under the system are clients of an MPS daemon. */
  usesMps?: boolean;
  /** Path of the library that intercepts in the system's worker; null if none does. */
  layer: string | null;
  /**
   * What the library intercepts in the worker; null if it shows nothing. Absent for a server that already ran (`load`):
   * it has no witness, and is proven by mapped files alone.
   */
  intercepted?: Pick<Interceptor, 'byPath'> | null;
  /** The container of the program; absent if it was started on this machine itself. */
  container?: ContainerSeen;
  /** The pod of the program, where only its witness could look; absent if it was started elsewhere. */
  pod?: PodSeen;
  /** Number of further processes that were noticed and not looked at. Default: 0. */
  unread?: number;
  /** Why the witness could not look at all of them; null or absent: nothing was in the way. */
  failed?: string | null;
  /** What is known of the program's processes as clients of MPS, under a system with a daemon. */
  mps?: MpsClients;
  /** UUID of the MIG instance that the program must be on, under a system that picks one. */
  instance?: string;
  /** Where the program's processes were, under such a system. */
  placed?: PlacedProcesses;
}

/** Counts processes; one may have been seen several times. */
const count = (processes: readonly SeenProcess[]): number => new Set(processes.map(({ pid }) => pid)).size;

/** Proves that the processes of a program were under its system. A process that was not looked at may be outside. */
export async function proofOf(seen: readonly SeenProcess[], expected: Expected): Promise<ProcessProof> {
  const { unread = 0, failed = null, placed, pod } = expected;
  const layer = await proofOfSeen(seen, expected);
  const proof = placed ? worstOf([layer, instanceProof(seen, placed)]) : layer;
  if (proof.state === 'outside') return proof;
  if (failed !== null)
    return { state: 'unproven', detail: `not checked: ${failed}${pod ? `, in pod ${pod.name}` : ''}` };
  if (unread === 0) return proof;
  return { state: 'unproven', detail: `${proof.detail}; ${unread} more were not looked at: there were too many` };
}

async function proofOfSeen(seen: readonly SeenProcess[], expected: Expected): Promise<ProcessProof> {
  if (expected.pod) return inPod(seen, expected, expected.pod);
  if (expected.container) return inContainer(seen, expected, expected.container);
  if (seen.length === 0)
    return {
      state: 'unproven',
      detail:
        'no process of the program could be looked at: it is statically linked, or of another architecture, and ended at once',
    };
  const elsewhere = seen.find((each) => each.isElsewhere && usesGpu(each));
  if (elsewhere)
    return { state: 'unproven', detail: `${who(elsewhere)} has file systems of its own, as in a container` };
  if (expected.layer !== null)
    return withMps(underLayer(seen, expected.layer, expected.intercepted), seen, expected.mps);
  if (expected.isBare) return bare(seen);
  if (expected.mps) return mpsProof(seen, expected.mps);
  return { state: 'unproven', detail: `nothing of ${expected.system} shows in a process from outside` };
}

/** Under a layer inside MPS, processes have to be clients too. */
const withMps = (proof: ProcessProof, seen: readonly SeenProcess[], mps: MpsClients | undefined): ProcessProof =>
  mps ? worstOf([proof, mpsProof(seen, mps)]) : proof;

/** Proves the processes of a container. A worker in a container of the same settings showed what is mapped in it. */
function inContainer(
  seen: readonly SeenProcess[],
  { layer, mps, intercepted }: Expected,
  container: ContainerSeen,
): ProcessProof {
  const { first, id, name } = container;
  const mounts = first?.namespaces.get('mnt');
  if (first === null || mounts === undefined)
    return { state: 'unproven', detail: 'the first process of its container could not be looked at from outside' };
  const where = `container ${id ?? name}`;
  if (mounts === namespacesOf('self').get('mnt'))
    return { state: 'outside', detail: `process ${first.pid} of ${where} has the file systems of the host` };
  const own = seen.filter((each) => each.mounts === mounts);
  if (layer === null && mps) return mpsProof(own, mps);
  if (layer === null)
    return {
      state: 'proven',
      detail: `in ${where}: PID ${first.pid} had mounts of its own, seen from outside`,
    };
  if (own.length === 0) return { state: 'unproven', detail: `no process was seen in ${where}: it ended at once` };
  const { state, detail } = withMps(underLayer(own, layer, intercepted), own, mps);
  return { state, detail: `${detail}, in ${where}` };
}

/** Proves the processes of a pod, in which a worker was proven to have the card and the limits. */
function inPod(
  seen: readonly SeenProcess[],
  { layer, intercepted, isBare }: Expected,
  { name, hooking }: PodSeen,
): ProcessProof {
  const said = ({ state, detail }: ProcessProof) => ({ state, detail: `${detail}, in pod ${name}` });
  if (seen.length === 0)
    return said({ state: 'unproven', detail: 'not checked: no process loaded the witness: it is statically linked' });
  if (layer === null && !isBare)
    return said({ state: 'unproven', detail: 'not checked: clients of MPS cannot be listed' });
  const found =
    layer === null ? bareWith(seen, (file) => hooking.includes(file)) : underLayer(seen, layer, intercepted);
  // A process that did not load the witness leaves no trace, such as one that was started without LD_PRELOAD.
  if (found.state === 'proven' && !seen.some(usesGpu))
    return said({
      state: 'unproven',
      detail: 'not checked: no process that loaded the witness used the GPU, and others cannot be seen',
    });
  return said(found);
}

function underLayer(seen: readonly SeenProcess[], layer: string, intercepted: Expected['intercepted']): ProcessProof {
  const isUnder = ({ files }: SeenProcess) => files.some((file) => sameFile(file, layer));
  const escaped = seen.find((each) => usesGpu(each) && !isUnder(each));
  if (escaped)
    return {
      state: 'outside',
      detail: `${who(escaped)} used the driver without ${layer}: it is statically linked, or its environment was changed`,
    };
  const under = seen.filter(isUnder);
  if (under.length === 0)
    return { state: 'unproven', detail: `${layer} is mapped in none of ${count(seen)} processes` };
  const mapped = `${layer} is mapped in ${count(under)} of ${count(seen)} processes, and in every one that used the driver`;
  if (intercepted === undefined)
    return { state: 'proven', detail: `${mapped}: whether it intercepts was not looked at` };
  const unlike = intercepted && escapedInOne(seen, intercepted);
  if (unlike) return { state: 'outside', detail: `${layer} is mapped in ${unlike}` };
  const unseen = seen.find((each) => usesGpu(each) && !wasLookedAt(each, seen, intercepted));
  if (unseen)
    return {
      state: 'unproven',
      detail: `${mapped}, but who owns the driver's functions in ${who(unseen)} could not be seen: ${whyNot(unseen, intercepted)}`,
    };
  return { state: 'proven', detail: `${mapped}${seen.some(usesGpu) ? ', where it intercepts as in a worker' : ''}` };
}

type Intercepted = Exclude<Expected['intercepted'], undefined>;

function escapedInOne(seen: readonly SeenProcess[], intercepted: NonNullable<Intercepted>): string | null {
  for (const each of seen) {
    const why = each.owners ? escapeIn(each.owners, intercepted) : null;
    if (why !== null) return `${who(each)}, but ${why}`;
  }
  return null;
}

/** Whether a process has a record of the driver's functions, of its own or of the process that it was forked from. */
function wasLookedAt(of: SeenProcess, all: readonly SeenProcess[], intercepted: Intercepted): boolean {
  const isFork = isForked(of, all);
  return all.some(
    ({ pid, owners }) =>
      (isFork || pid === of.pid) && owners != null && intercepted !== null && isComparable(owners, intercepted),
  );
}

function whyNot({ owners, files }: SeenProcess, intercepted: Intercepted): string {
  if (!intercepted || Object.values(intercepted.byPath).every((names) => names.length === 0))
    return 'the worker showed no function of the driver that it intercepts';
  if (owners === undefined && !files.some(isWitness)) return 'it ran without libgvb-witness.so, as in a container';
  return 'its main thread did not end it by exit()';
}

async function bare(seen: readonly SeenProcess[]): Promise<ProcessProof> {
  const hooking = new Set<string>();
  for (const { files } of seen) for (const file of files) if (await hooks(file)) hooking.add(file);
  return bareWith(seen, (file) => hooking.has(file));
}

function bareWith(seen: readonly SeenProcess[], isHooking: (file: string) => boolean): ProcessProof {
  for (const each of seen) {
    const file = each.files.find(isHooking);
    if (file !== undefined)
      return { state: 'outside', detail: `${file} is mapped in ${who(each)}, and exports what a GPU layer exports` };
  }
  for (const each of seen) {
    const why = each.owners ? interceptedIn(each.owners) : null;
    if (why !== null) return { state: 'outside', detail: `in ${who(each)}, ${why}` };
  }
  return { state: 'proven', detail: `no layer is mapped in any of ${count(seen)} processes` };
}
