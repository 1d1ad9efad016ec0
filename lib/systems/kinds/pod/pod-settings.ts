/** The settings of `kind: pod`. */
import { choice, duration, key, matching, needed, text } from '../../../config/schema.js';
import { nameOf } from '../../../config/label.js';
import { settings } from '../../../config/read.js';

/** What a pod can be under. `whole`: the bare driver, alone or with time-slicing. */
const mechanisms = ['whole', 'layer', 'mps', 'mig'] as const;
export type Mechanism = (typeof mechanisms)[number];

/** A label of RFC 1123, as names of namespaces and containers are. */
export const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** Names of contexts are free; text that could be an option or has control characters is none. */
const contextName = /^[A-Za-z0-9_.:@/+][A-Za-z0-9_.:@/+-]{0,252}$/;
const absolute = /^\/[\w./@+-]{1,250}$/;

export const podSettings = settings({
  name: nameOf('pod'),
  template: needed(
    text('FILE'),
    'File with the pod (`kind: Pod`, YAML). Its container that measures gets our command; everything else of it is kept.',
  ),
  container: key(
    matching(dnsLabel, 'the name of a container', 'NAME'),
    'The container that measures. Default: the first one.',
  ),
  truth: key(
    text('FILE'),
    "File with a pod that no layer hooks and that sees the node's GPUs without asking for one, e.g. by `NVIDIA_VISIBLE_DEVICES=all`; it reads NVML while the others measure. `here`: this machine is the node. Default: this machine if another system needs its GPU or the GPU is simulated, else none, and the document says so.",
  ),
  under: key(
    choice(mechanisms),
    'What the pod has to be under: the bare driver (`whole`), a preloaded `layer`, `mps`, or a `mig` instance. Default: what the resources and annotations of the template ask for.',
  ),
  namespace: key(matching(dnsLabel, 'the name of a namespace'), "Default: the template's, else that of the context."),
  context: key(
    matching(contextName, 'the name of a context'),
    "Context of kubectl's configuration. Default: the current one.",
  ),
  kubectl: key(text(), '`kubectl`, or the absolute path of one.', 'kubectl'),
  package: key(
    matching(absolute, 'an absolute path'),
    'Where this package is in the image, of the same version as here.',
    '/opt/gpu-virt-bench/app',
  ),
  node: key(matching(absolute, 'an absolute path'), 'Where Node is in the image.', '/opt/gpu-virt-bench/node'),
  startTimeout: key(duration({ shortestMs: 1_000, longestMs: 86_400_000 }), 'How long a pod may take to run.', '5min'),
  deadline: key(
    duration({ shortestMs: 60_000, longestMs: 7 * 86_400_000 }),
    'After this time the cluster ends a pod by itself (`activeDeadlineSeconds`), whatever became of this command.',
    '6h',
  ),
});
