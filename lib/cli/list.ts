/** `gpu-virt-bench list` */
import { listMetrics } from '../inventory.js';
import { metricList } from '../report/terminal.js';
import { exitCodes } from './exit-codes.js';
import { writeStdout } from './output.js';

export async function list(options: { json?: true }): Promise<number> {
  const text = options.json ? JSON.stringify(listMetrics(), null, 2) : metricList(listMetrics());
  await writeStdout(`${text}\n`);
  return exitCodes.ok;
}
