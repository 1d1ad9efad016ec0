/** The environment of a measurement, in one line. */
import type { Environment } from '../../gate/document.js';
import { plain } from '../../results/text/plain.js';

export function environmentText(environment: Environment): string {
  const { gpu, driver, host, manner, rounds, smClockMhz, tool, startedAt, simulated } = environment;
  const clock = smClockMhz === null ? 'SM clock unknown' : `SM ${smClockMhz} MHz under load`;
  const card = `${simulated ? 'SIMULATED ' : ''}${gpu}`;
  return plain(
    `${card}, ${clock}; driver ${driver}; ${host}; ${manner}, rounds ${rounds}; tool ${tool}; measured ${startedAt}`,
  );
}
