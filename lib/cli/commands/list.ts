/** `gpu-virt-bench list` */
import { listMetrics } from '../../inventory.js';
import { firstRun } from '../../metrics/first-run.js';
import { metricsFor } from '../../metrics/purposes.js';
import { purposeNames } from '../../results/text/purpose-names.js';
import { exitCodes } from '../options/exit-codes.js';
import { checkJson, writeJson, type RawJson } from '../options/json-option.js';
import { metricTable } from '../terminal/metric-table.js';
import { writeText } from '../files/output.js';

export async function list({ json }: RawJson): Promise<number> {
  await checkJson(json);
  const listed = listMetrics().map((metric) => ({ ...metric, ...placesOf(metric.id) }));
  if (json === undefined) await writeText(`${metricTable(listed)}\n`);
  else await writeJson(json, listed);
  return exitCodes.ok;
}

/** Whether `run` measures it if nothing is named, and for which purposes --for selects it. */
const placesOf = (id: string) => ({
  firstRun: firstRun.includes(id),
  purposes: purposeNames.filter((name) => metricsFor(name).includes(id)),
});
