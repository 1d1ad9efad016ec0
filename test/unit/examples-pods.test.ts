/** The templates of examples/pods: what they ask for, and whether the API takes the pods that are made of them. */
import { Pod } from 'kubernetes-models/v1/Pod';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Place } from '../../lib/config/setting-place.js';
import { askedFor, podOf, readTemplate } from '../../lib/systems/kinds/pod/pod-template.js';

const folder = fileURLToPath(new URL('../../examples/pods', import.meta.url));
const expected: Record<string, string> = {
  'dra-claim.yaml': 'whole',
  'hami.yaml': 'layer',
  'kai.yaml': 'layer',
  'mig.yaml': 'mig',
  // The same resource as without MPS: under=mps says it.
  'mps.yaml': 'whole',
  'plain.yaml': 'whole',
  'time-slicing.yaml': 'whole',
  'truth.yaml': 'whole',
  'volcano.yaml': 'layer',
};

it('are all known', () => expect(readdirSync(folder).sort()).toEqual(Object.keys(expected)));

it.each(Object.entries(expected))('%s asks for %s, and makes a pod that the API takes', (file, mechanism) => {
  const place = new Place({ template: file }, 'pod');
  const template = readTemplate(join(folder, file), { place, key: 'template', folder, container: undefined });
  const wanted = { name: 'gvb-1', runId: '1', owner: {}, deadlineSeconds: 60, node: '/node', nodeName: 'node-1' };
  expect(askedFor(template).mechanism).toBe(mechanism);
  expect(() => new Pod(podOf(template, wanted) as never).validate()).not.toThrow();
});
