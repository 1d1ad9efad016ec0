/** The settings of `kind: pod`, checked before anything runs. */
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type * as v from 'valibot';
import type { Place } from '../../../config/setting-place.js';
import { inPath } from '../../input/in-path.js';
import type { podSettings } from './pod-settings.js';
import { type Asked, askedFor, readTemplate, type Template } from './pod-template.js';

export interface PodOptions {
  name: string;
  template: Template;
  /** An unhooked pod; `here`: this machine; null: not said. */
  truth: Template | 'here' | null;
  asked: Asked;
  /** Absolute; null where there is none. */
  kubectl: string | null;
  context: string | undefined;
  namespace: string | undefined;
  node: string;
  package: string;
  startTimeoutMs: number;
  deadlineSeconds: number;
  caller: NodeJS.ProcessEnv;
}

interface Around {
  name: string;
  place: Place;
  folder: string;
  caller: NodeJS.ProcessEnv;
}

export function podOptions(
  given: v.InferOutput<typeof podSettings>,
  { name, place, folder, caller }: Around,
): PodOptions {
  const { kubectl, container, under } = given;
  if (kubectl.includes('/') && !isAbsolute(kubectl))
    throw place.expected('kubectl', 'the name of a program in PATH, or an absolute path');
  const template = readTemplate(given.template, { place, key: 'template', folder, container });
  return {
    name,
    template,
    truth: truthOf(given.truth, place, folder),
    asked: askedFor(template, under),
    kubectl: kubectl.includes('/') ? (existsSync(kubectl) ? kubectl : null) : inPath(kubectl, caller.PATH ?? ''),
    context: given.context,
    namespace: given.namespace ?? template.pod.metadata?.namespace,
    node: given.node,
    package: given.package,
    startTimeoutMs: given.startTimeout,
    deadlineSeconds: Math.ceil(given.deadline / 1_000),
    caller,
  };
}

function truthOf(given: string | undefined, place: Place, folder: string): PodOptions['truth'] {
  if (given === undefined) return null;
  return given === 'here' ? 'here' : readTemplate(given, { place, key: 'truth', folder, container: undefined });
}
