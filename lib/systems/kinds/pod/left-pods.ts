/** Pods that runs left behind which were killed together with their guardian. */
import * as v from 'valibot';
import type { Pod } from 'kubernetes-types/core/v1.js';
import { ownerState, processIdentitySchema } from '../../../environment/process-identity.js';
import { messageOf } from '../../../errors/message-of.js';
import type { Kubectl } from './kubectl.js';
import { OWNER, SELECT_ALL } from './pod-template.js';

/** Pods whose run has ended, on this machine: the others' cannot be known from here. */
function isLeft({ metadata, status }: Pod): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true;
  const owner = metadata?.annotations?.[OWNER];
  try {
    const found = v.safeParse(processIdentitySchema, JSON.parse(owner ?? ''));
    return found.success && ownerState(found.output) === 'dead';
  } catch {
    // Its annotation is not ours.
    return false;
  }
}

/** Names them, and why they could not be looked for. */
export async function leftPods(kubectl: Kubectl): Promise<string[]> {
  try {
    const names = (await kubectl.list<Pod>('pods', SELECT_ALL))
      .filter(isLeft)
      .map(({ metadata }) => metadata?.name ?? '');
    if (names.length === 0) return [];
    return [
      `an earlier run left ${names.length === 1 ? 'a pod' : `${names.length} pods`}: kubectl delete pod ${names.join(' ')}`,
    ];
  } catch (error) {
    return [`pods of earlier runs could not be looked for: ${messageOf(error)}`];
  }
}
