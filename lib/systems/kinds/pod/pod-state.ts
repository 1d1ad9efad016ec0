/** What the cluster says of a pod, in words. */
import type { ContainerStatus, Pod } from 'kubernetes-types/core/v1.js';

/** Reasons for which a container will not start by waiting. */
const hopeless =
  /^(ImagePullBackOff|InvalidImageName|ErrImageNeverPull|CreateContainerConfigError|CreateContainerError|RunContainerError|CrashLoopBackOff)$/;

const advice: readonly [RegExp, string][] = [
  [/ImagePull|InvalidImageName|ErrImageNeverPull/, 'Load the image on the node, or give the pod imagePullSecrets.'],
  [/Insufficient nvidia\.com|Insufficient/, 'Other pods hold what it asks for: free a GPU, or ask for less.'],
  [
    /didn't match Pod's node affinity|untolerated taint/,
    'Check nodeSelector, affinity and tolerations of the template.',
  ],
  [/UnexpectedAdmissionError/, 'The device plugin refused it: see its log on the node.'],
  [/OOMKilled/, "Raise the container's memory limit: a worker needs about 300 MiB beside what it measures."],
  [/Evicted/, 'The node was short of a resource: use requests equal to limits (Guaranteed), or another node.'],
];

const withAdvice = (text: string): string => {
  const help = advice.find(([pattern]) => pattern.test(text))?.[1];
  return help === undefined ? text : `${text.replace(/\.$/, '')}. ${help}`;
};

const joined = (...parts: (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== '').join(': ');

const statusOf = (pod: Pod, container: string): ContainerStatus | undefined =>
  pod.status?.containerStatuses?.find(({ name }) => name === container);

/** Whether its container runs. */
export const isRunning = (pod: Pod, container: string): boolean =>
  pod.status?.phase === 'Running' && statusOf(pod, container)?.state?.running !== undefined && !isLost(pod);

/** The node does not answer any more. */
const isLost = ({ status }: Pod): boolean => status?.reason === 'NodeLost';

/** Why it will never run, or runs no longer; null while there is hope. */
export function whyOver(pod: Pod, container: string): string | null {
  const { status } = pod;
  if (isLost(pod)) return joined('the node is lost', status?.message);
  const { terminated, waiting } = statusOf(pod, container)?.state ?? {};
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') {
    const ending = terminated && joined(terminated.reason, `exit code ${terminated.exitCode}`);
    return withAdvice(`the pod has ended (${joined(status.reason ?? ending ?? status.phase, status.message)})`);
  }
  if (terminated)
    return withAdvice(
      `its container has ended (${joined(terminated.reason, terminated.message, `exit code ${terminated.exitCode}`)})`,
    );
  if (waiting?.reason !== undefined && hopeless.test(waiting.reason))
    return withAdvice(`its container cannot start (${joined(waiting.reason, waiting.message)})`);
  if (pod.metadata?.deletionTimestamp !== undefined) return 'something deletes the pod';
  return null;
}

/** Whether the scheduler finds no node for it. */
export const isUnschedulable = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable') ?? false;

/** What a pod is waiting for. */
export function whyWaiting(pod: Pod, container: string): string {
  const { waiting } = statusOf(pod, container)?.state ?? {};
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False') return withAdvice(joined(scheduled.reason, scheduled.message));
  if (waiting) return withAdvice(joined(waiting.reason, waiting.message));
  return `its phase is ${pod.status?.phase ?? 'unknown'}`;
}
