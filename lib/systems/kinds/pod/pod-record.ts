/** What a document keeps of a pod: what pods of the same template may differ by. */
import { publicValue } from '../../input/spec.js';
import type { Adopted } from './adopted-limits.js';
import type { LivingPod } from './living-pod.js';
import type { PodOptions } from './pod-options.js';

interface Given extends Pick<PodOptions, 'template' | 'truth'> {
  hasTruth: boolean;
}

export function recordOf(
  { found: { node, imageId, qosClass } }: LivingPod,
  { injected, mechanism, readBack }: Adopted,
  { template, truth, hasTruth }: Given,
): Record<string, string> {
  const variables = Object.entries(injected).map(([name, value]) => [`injected.${name}`, publicValue(name, value)]);
  return {
    'pod.template': template.sha256,
    'pod.image': imageId,
    'pod.node': node,
    'pod.qos': qosClass,
    'pod.under': mechanism,
    'pod.tenants': mechanism === 'whole' ? 'processes in one pod' : 'a pod each',
    ...(readBack && { 'pod.limits': `read back in the process: ${readBack.text}` }),
    'pod.truth': hasTruth ? (truth === null || truth === 'here' ? 'this machine' : truth.sha256) : 'none',
    ...(Object.fromEntries(variables) as Record<string, string>),
  };
}
