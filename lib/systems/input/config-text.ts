/** Writes systems as a file for --config, so that they can be measured again. */
import type { RawMap } from '../../config/raw.js';
import { yamlLibrary } from '../../config/yaml-library.js';
import { NOT_RECORDED } from '../../results/document.js';
import { resolvedSettings } from './source.js';
import type { System } from '../system.js';

/** Proofs and absolute paths of libraries included, secrets excluded; `workloads` of `exec` and `prices` beside them. */
export function configText(systems: readonly System[], workloads?: readonly RawMap[], prices?: RawMap): string {
  const entries = systems.map(({ name, source }) => {
    if (!source) throw new Error(`unreachable: ${name} was not made from settings`);
    const { name: label = source.kind, kind: _, ...settings } = resolvedSettings(source);
    return { name: label, kind: source.kind, ...settings };
  });
  const beside = { ...(workloads && { workloads }), ...(prices && { prices }) };
  const yaml = yamlLibrary().stringify({ systems: entries, ...beside }, { lineWidth: 0 });
  const secrets = yaml.includes(NOT_RECORDED)
    ? `# Replace every ${NOT_RECORDED} by its value: secrets are not stored here.\n`
    : '';
  const use = workloads
    ? 'The systems and programs of this comparison, for exec'
    : 'The systems of this comparison, for compare';
  return `# ${use} --config. The first is the baseline.\n${secrets}${yaml}`;
}
