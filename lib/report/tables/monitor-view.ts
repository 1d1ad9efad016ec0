/** GPU samples as text: a table of the latest, or one line each. */
import { number, plain } from '../../results/text/plain.js';
import type { GpuSample } from '../../monitor/sample.js';
import { type Column, table } from './table.js';
import type { Screen } from '../text/screen.js';

const NONE = '–';

const value = (figure: number | null, unit = ''): string =>
  figure === null ? NONE : `${number(figure)}${unit && ` ${unit}`}`;

const pair = (received: number | null, sent: number | null): string =>
  received === null && sent === null ? NONE : `${value(received)} / ${value(sent)}`;

const memory = ({ memoryUsedMib, memoryTotalMib }: GpuSample): string =>
  memoryUsedMib === null ? NONE : `${Math.round(memoryUsedMib)} / ${value(memoryTotalMib)}`;

const reasons = ({ clockReasons }: GpuSample): string =>
  clockReasons === null ? NONE : clockReasons.length === 0 ? 'none' : clockReasons.join(', ');

interface Field extends Column {
  cell: (sample: GpuSample) => string;
}

const right = (title: string, cell: Field['cell'], leaves?: number): Field => ({
  title,
  cell,
  align: 'right',
  ...(leaves !== undefined && { leaves }),
});

/**
 * Fields of a sample. `leaves` is the order in which columns are dropped on a narrow screen: least relevant to a
 * program's work first.
 */
const fields: readonly Field[] = [
  right('GPU', ({ gpu }) => String(gpu)),
  right('GPU %', ({ gpuPercent }) => value(gpuPercent)),
  right('Mem %', ({ memoryPercent }) => value(memoryPercent), 6),
  right('Memory MiB', memory),
  right('Power W', ({ powerW }) => value(powerW), 8),
  right('°C', ({ temperatureC }) => value(temperatureC), 7),
  right('SM MHz', ({ smClockMhz }) => value(smClockMhz), 5),
  right('Mem MHz', ({ memoryClockMhz }) => value(memoryClockMhz), 1),
  right('PCIe rx / tx MB/s', ({ pcieRxMbS, pcieTxMbS }) => pair(pcieRxMbS, pcieTxMbS), 3),
  right('NVLink rx / tx MB/s', ({ nvlinkRxMbS, nvlinkTxMbS }) => pair(nvlinkRxMbS, nvlinkTxMbS), 2),
  { title: 'Clocks', cell: reasons, leaves: 4 },
];

const processColumns: readonly Column[] = [
  { title: 'PID', align: 'right' },
  { title: 'GPU', align: 'right' },
  { title: 'GPU %', align: 'right' },
  { title: 'Mem %', align: 'right' },
  { title: 'Memory MiB', align: 'right' },
];

/** The latest sample of each GPU, with its processes below. */
export function samplesTable(samples: readonly GpuSample[], on: Screen): string {
  const cards = table(
    fields,
    samples.map((sample) => fields.map(({ cell }) => plain(cell(sample)))),
    on,
  );
  const processes = samples.flatMap(({ gpu, processes: list }) =>
    list.map(({ pid, gpuPercent, memoryPercent, memoryUsedMib }) => [
      String(pid),
      String(gpu),
      value(gpuPercent),
      value(memoryPercent),
      value(memoryUsedMib),
    ]),
  );
  return processes.length === 0 ? cards : `${cards}\n\n${table(processColumns, processes, on)}`;
}

/** Formats a sample on one line, without values that NVML did not report. */
export function sampleLine(sample: GpuSample): string {
  const { timeS, gpu, gpuPercent, memoryPercent, powerW, temperatureC, smClockMhz, memoryClockMhz, processes } = sample;
  const said = (figure: number | null, text: (figure: string) => string) =>
    figure === null ? [] : [text(number(figure))];
  const count = processes.length;
  const parts = [
    ...said(gpuPercent, (text) => `GPU ${text} %`),
    ...said(memoryPercent, (text) => `memory ${text} %`),
    ...(sample.memoryUsedMib === null ? [] : [`${memory(sample)} MiB`]),
    ...said(powerW, (text) => `${text} W`),
    ...said(temperatureC, (text) => `${text} °C`),
    ...said(smClockMhz, (text) => `SM ${text} MHz`),
    ...said(memoryClockMhz, (text) => `memory ${text} MHz`),
    ...(sample.pcieRxMbS === null ? [] : [`PCIe ${pair(sample.pcieRxMbS, sample.pcieTxMbS)} MB/s`]),
    ...(sample.nvlinkRxMbS === null ? [] : [`NVLink ${pair(sample.nvlinkRxMbS, sample.nvlinkTxMbS)} MB/s`]),
    ...(sample.clockReasons === null ? [] : [`clocks: ${reasons(sample)}`]),
    `${count} process${count === 1 ? '' : 'es'}`,
  ];
  return plain(`${timeS.toFixed(1)} s, GPU ${gpu}: ${parts.join(', ')}`);
}
