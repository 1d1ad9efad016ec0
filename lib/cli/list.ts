/** `gpu-virt-bench list` */
import { listMetrics } from '../inventory.js';
import { metricList } from '../report/terminal.js';
import { exitCodes } from './exit-codes.js';
import { writeStdout, writeText } from './output.js';

export async function list(options: { json?: true }): Promise<number> {
  if (options.json) await writeStdout(`${JSON.stringify(listMetrics(), null, 2)}\n`);
  else await writeText(`${metricList(listMetrics())}\n`);
  return exitCodes.ok;
}
