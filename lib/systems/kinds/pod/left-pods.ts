/** Pods that runs left behind which were killed together with their guardian. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from 'kubernetes-types/core/v1.js';
import { ownerState, parseIdentity } from '../../../environment/process-identity.js';
import { messageOf } from '../../../errors/message-of.js';
import { inPath } from '../../input/in-path.js';
import { Kubectl } from './kubectl.js';
import { OWNER, SELECT_RUNS } from './pod-template.js';

/** Pods whose run has ended, on this machine: the others' cannot be known from here. */
function isLeft({ metadata, status }: Pod): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true;
  // Null too where the annotation is not ours.
  const owner = parseIdentity(metadata?.annotations?.[OWNER] ?? '');
  return owner !== null && ownerState(owner) === 'dead';
}

interface LeftPods {
  text: string;
  /** The command that removes them; null where they could not be looked for. */
  fix: string | null;
}

/** Null if there are none. */
async function lookFor(kubectl: Kubectl): Promise<LeftPods | null> {
  try {
    const names = (await kubectl.list<Pod>('pods', SELECT_RUNS)).filter(isLeft).map(({ metadata }) => metadata?.name);
    if (names.length === 0) return null;
    const what = names.length === 1 ? 'a pod' : `${names.length} pods`;
    return { text: `an earlier run left ${what}`, fix: `kubectl delete pod ${names.join(' ')}` };
  } catch (error) {
    return { text: `pods of earlier runs could not be looked for: ${messageOf(error)}`, fix: null };
  }
}

/** Names them, and why they could not be looked for. */
export async function leftPods(kubectl: Kubectl): Promise<string[]> {
  const left = await lookFor(kubectl);
  return left === null ? [] : [left.fix === null ? left.text : `${left.text}: ${left.fix}`];
}

/** Those in the current context and its namespace, where kubectl is installed and configured. */
export async function leftInContext(caller: NodeJS.ProcessEnv): Promise<LeftPods | null> {
  const program = inPath('kubectl', caller.PATH ?? '');
  const isConfigured = caller.KUBECONFIG !== undefined || existsSync(join(caller.HOME ?? '/', '.kube/config'));
  if (program === null || !isConfigured) return null;
  return lookFor(new Kubectl({ program, context: undefined, namespace: undefined, caller, tries: 1 }));
}
