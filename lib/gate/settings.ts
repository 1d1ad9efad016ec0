/** Compares the settings of systems that share a name in two sessions. */
import type { RunDocument } from '../results/document.js';
import { lasting } from '../systems/process/run-directory.js';

/** A change may be what the gate is for, such as a new build of a layer, so it is reported and not refused. */
export function settingDifferences(
  name: string,
  now: readonly RunDocument[],
  then: readonly RunDocument[] | undefined,
): string[] {
  const [mine, other] = [now[0]?.system, then?.[0]?.system];
  if (!other) return [`The baseline has no ${name}: it is not compared.`];
  if (!mine) return [];
  const keys = [...new Set([...Object.keys(mine.settings), ...Object.keys(other.settings)])].sort();
  const shown = ({ settings }: typeof mine, key: string) =>
    lasting((Object.hasOwn(settings, key) ? settings[key] : undefined) ?? 'not set');
  const changed = keys.filter((key) => shown(mine, key) !== shown(other, key));
  return [
    ...changed.map(
      (key) => `${name} is set up differently: ${key} is ${shown(mine, key)} against ${shown(other, key)}.`,
    ),
    ...layerDifference(name, mine.layer?.sha256, other.layer?.sha256),
  ];
}

function layerDifference(name: string, now: string | null | undefined, then: string | null | undefined): string[] {
  if (!now || !then || now === then) return [];
  return [`The layer of ${name} is another build: SHA-256 ${now.slice(0, 12)}… against ${then.slice(0, 12)}….`];
}
