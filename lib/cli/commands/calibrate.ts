/** `gpu-virt-bench calibrate` */
import { BenchError } from '../../errors/bench-error.js';
import { interposerLibrary, loadAddon, simulatedDriverFolder } from '../../native/load.js';
import { plain } from '../../results/text/plain.js';
import { table } from '../../report/tables/table.js';
import { WATERMARK } from '../../report/formats/terminal.js';
import { type CalibrationRow, calibrate } from '../../run/calibrate.js';
import { chooseTarget } from '../../run/plan/target.js';
import { callerEnvironment } from '../../systems/process/environment.js';
import { loaderPath } from '../../systems/process/loader-path.js';
import { exitCodes } from '../options/exit-codes.js';
import { interruptible } from '../process/interruption.js';
import { parseRunOptions, type RawRunOptions } from '../options/options.js';
import { failureOf, STDOUT, writeStdout, writeText, writeWhole } from '../files/output.js';
import { checkOutputs } from '../options/document-outputs.js';
import { progressDisplay } from '../terminal/progress.js';
import { say } from '../terminal/talk.js';

type RawCalibrateOptions = Pick<
  RawRunOptions,
  'device' | 'tier' | 'path' | 'json' | 'timeout' | 'requireGpu' | 'simulate'
>;

const columns = [
  { title: 'Injected' },
  { title: 'Actual', align: 'right' },
  { title: 'Measured', align: 'right' },
  { title: 'Bias', align: 'right' },
  { title: 'Resolution', align: 'right' },
  { title: 'Recovered' },
] as const;

function quantity(value: number, unit: CalibrationRow['unit']): string {
  return unit === 'bytes' ? `${value} B` : `${value.toFixed(1)} ${unit}`;
}

function calibrationTable(rows: readonly CalibrationRow[]): string {
  return table(
    columns,
    rows.map(({ what, truth, estimate, bias, halfWidth, unit, recovered }) => [
      what,
      quantity(truth, unit),
      quantity(estimate, unit),
      quantity(bias, unit),
      halfWidth === null ? 'exact' : `± ${quantity(halfWidth, unit)}`,
      recovered ? 'yes' : 'NO',
    ]),
  );
}

/** Removes the caller's own layer, which would be calibrated too: workers get only the interposer. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const { LD_PRELOAD: _layer, GVB_INTERPOSE: _settings, ...rest } = callerEnvironment();
  return rest;
}

export async function calibrateTool(raw: RawCalibrateOptions): Promise<number> {
  const { device, tier, path, outputs, timeoutSeconds, ...options } = parseRunOptions(raw);
  await checkOutputs(outputs);
  const json = outputs[0]?.target;
  const addon = loadAddon();
  const target = chooseTarget({ ...options, timeoutSeconds }, addon, simulatedDriverFolder);
  const interposer = interposerLibrary();
  if (interposer === null)
    throw new BenchError('NO_ADDON', 'The calibration interposer is not built: run npm run build:native.');
  if (target.notice) say(plain(target.notice));
  const progress = progressDisplay();
  try {
    const rows = await interruptible(async (signal) =>
      calibrate({
        target,
        interposer: await loaderPath(interposer),
        device,
        path,
        tier,
        timeoutSeconds,
        environment: cleanEnvironment(),
        signal,
        onStep: (step) => progress.doing(step),
      }),
    );
    progress.stop();
    const report = `${target.simulate ? `${WATERMARK}\n\n` : ''}${calibrationTable(rows)}\n`;
    const text = `${JSON.stringify(rows, null, 2)}\n`;
    const failure = json === undefined || json === STDOUT ? null : await failureOf(writeWhole(json, text));
    await (json === STDOUT ? writeStdout(text) : writeText(report));
    if (failure) throw failure;
    return rows.every(({ recovered }) => recovered) ? exitCodes.ok : exitCodes.failed;
  } finally {
    progress.stop();
  }
}
