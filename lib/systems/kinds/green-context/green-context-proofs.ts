/** Whether a process is in a green context of the wanted size: by the driver's description, and by where kernels ran. */
import type { Finding } from '../../proof/proof-finding.js';
import type { Probe } from '../../system.js';

/** The largest step and least size of any generation: 8 from compute capability 9.0 on. */
const STEP = 8;

const NOT_PROBED = 'the worker was not probed';

/** A part is rounded down, by less than a step, or is the smallest that there is. */
export function partOfCard(probe: Probe | null, wanted: number | null, whole: number): Finding {
  const proof = "multiprocessors of the process's green context";
  if (probe === null) return { proof, passed: null, detail: NOT_PROBED };
  const { partitionMultiprocessors: own } = probe;
  if (wanted === null)
    return { proof, passed: own === null, detail: own === null ? 'none, as no part was set' : `${own}, none was set` };
  return {
    proof,
    passed: own !== null && own < whole && own <= Math.max(wanted, STEP) && wanted - own < STEP,
    detail: own === null ? 'it is in none' : `${own} of ${whole}, up to ${wanted} were set`,
    advice:
      'Measure with a driver that splits the multiprocessors (R550 or newer), and with nothing between it and the process.',
  };
}

/** A description proves nothing of where kernels run. */
export function whereKernelsRan(probe: Probe | null, wanted: number | null): Finding {
  const proof = 'multiprocessors on which blocks ran';
  if (probe === null) return { proof, passed: null, detail: NOT_PROBED };
  const { partitionMultiprocessors: own, multiprocessorsUsed: used } = probe;
  if (wanted === null) return { proof, passed: null, detail: 'not counted: no part was set' };
  return {
    proof,
    passed: used !== null && used === own,
    detail: used === null ? 'not counted' : `${used}, the green context has ${own}`,
    advice: 'The driver or a layer says one size and gives another: nothing can be measured as that part.',
  };
}
