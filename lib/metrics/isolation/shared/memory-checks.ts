/** Conditions for publishing amounts of memory. */
import type { Check } from '../../../results/document.js';
import { formatBytes } from '../../../results/text/format-bytes.js';
import { AGREEMENT, type FilledPath, KEPT_BYTES, type PathRow } from './memory-paths.js';

export const memoryCheck = (filled: readonly FilledPath[]): Check =>
  check('granted memory is real memory', filled, ({ noMemory }) => noMemory, 'every block held what was written to it');

/** Memory that a path did not return must not affect the next: each starts from what is held before it. */
export const returnedCheck = (filled: readonly FilledPath[]): Check =>
  check('memory was given back', filled, ({ notReturned }) => notReturned, 'after every path, as far as NVML shows it');

/** A path that ends its process does so again; one death alone may be the doing of something else. */
export const deathCheck = (filled: readonly FilledPath[]): Check =>
  check('no process died only once', filled, ({ diedOnce }) => diedOnce, 'on any path');

/** `headlines`: the paths whose amounts are published. Each of them must pass. */
export function memoryChecks(filled: readonly FilledPath[], headlines: readonly FilledPath[]): Check[] {
  return [
    memoryCheck(filled),
    agreementCheck(headlines.map(({ row }) => row)),
    check('an allocation works after a refusal', headlines, ({ notAgain }) => notAgain, 'as large as the one freed'),
  ];
}

function check(
  name: string,
  filled: readonly FilledPath[],
  wrong: (path: FilledPath) => string | null,
  otherwise: string,
): Check {
  const found = filled.flatMap((path) => wrong(path) ?? []);
  return { name, passed: found.length === 0, detail: found.join('; ') || otherwise };
}

/** A layer that lies about what it grants must not appear accurate. */
function agreementCheck(rows: readonly PathRow[]): Check {
  const name = 'NVML agrees with what was granted';
  const compared = rows.flatMap(({ path, grantedBytes, beforeBytes, truthBytes, limitBytes }) => {
    if (grantedBytes === null || beforeBytes === null || truthBytes === null) return [];
    return [{ path, granted: grantedBytes, grown: truthBytes - beforeBytes, limitBytes }];
  });
  if (compared.length === 0)
    return { name, passed: 'not checked', detail: 'the coordinator cannot see the memory of individual processes' };
  const told = compared.map(
    ({ path, granted, grown }) => `${path}: ${formatBytes(granted)}, NVML ${formatBytes(grown)}`,
  );
  const passed = compared.every(
    ({ granted, grown, limitBytes }) => Math.abs(granted - grown) <= AGREEMENT * limitBytes + KEPT_BYTES,
  );
  return { name, passed, detail: told.join('; ') };
}
