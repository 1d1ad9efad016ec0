/**
 * OpenMetrics 1.0 text that also suits the textfile collector of Prometheus' node exporter: its parser knows only the
 * types of the older text format, so every metric is a gauge.
 */
import { baseUnit } from '../text/base-units.js';
import { grouped } from '../../results/text/grouped.js';
import { plain } from '../../results/text/plain.js';
import { type Cell, type Row, rowsOf, type View } from '../../results/view.js';

type Labels = Record<string, string>;

interface Family {
  name: string;
  /** Suffix of the name; undefined without a unit. */
  unit?: string;
  help: string;
  samples: [labels: Labels, value: number][];
}

const PREFIX = 'gpu_virt_bench';

export function openMetricsReport(view: View): string {
  const where = commonLabels(view);
  const families = [
    ...merged(rowsOf(view).flatMap((row) => valueFamilies(row, where))),
    ...effectFamilies(view, where),
    ...stateFamilies(view, where),
    ...documentFamilies(view, where),
  ];
  const text = families.filter(({ samples }) => samples.length > 0).map(familyText);
  return [...text, '# EOF\n'].join('');
}

function commonLabels({ systems, simulated }: View): Labels {
  const gpus = systems.flatMap(({ rounds }) => rounds.flatMap(({ gpu }) => gpu));
  const unique = (values: readonly string[]) => [...new Set(values)].join(' + ');
  return {
    gpu: unique(gpus.map(({ name }) => name)),
    uuid: unique(gpus.map(({ uuid }) => uuid)),
    simulated: String(simulated),
  };
}

/** Joins families of one name, however many programs have a metric of that name. */
const merged = (families: readonly Family[]): Family[] =>
  [...grouped(families, ({ name }) => name).values()].map((same) => ({
    ...(same[0] as Family),
    samples: same.flatMap(({ samples }) => samples),
  }));

/**
 * Families of a value and the two ends of its interval: `gpu_virt_bench_oh_001_kernel_launch_latency_seconds`. Metrics
 * of programs are named `gpu_virt_bench_program_wall_seconds`, with the program as a label, and the tenant of a scene.
 */
function valueFamilies({ id, name, unit, cells }: Row, own: Labels): Family[] {
  const { name: base, factor } = baseUnit(unit);
  const { key, labels } = programOf(id);
  const stem = key === undefined ? `${PREFIX}_${slug(id)}_${slug(name)}` : `${PREFIX}_program_${slug(key)}`;
  const where = { ...labels, ...own };
  const what = key === undefined ? `${id} ${name}` : `${name} of a program`;
  const family = (part: string, help: string, value: (cell: Cell) => number | null): Family => ({
    name: `${stem}${part}_${base}`,
    unit: base,
    help,
    samples: cells.flatMap((cell): Family['samples'] => {
      const found = value(cell);
      return found === null ? [] : [[{ metric: id, system: cell.system, ...where }, scaled(found, factor)]];
    }),
  });
  return [
    family('', `${what}, median over rounds`, ({ value }) => value),
    family('_ci95_lower', `${what}, lower end of the 95 % interval`, ({ ci95 }) => ci95?.[0] ?? null),
    family('_ci95_upper', `${what}, upper end of the 95 % interval`, ({ ci95 }) => ci95?.[1] ?? null),
  ];
}

/** Splits an id of the form `PROGRAM/key`, or `SCENE/TENANT/key/form`. */
function programOf(id: string): { key: string | undefined; labels: Labels } {
  const [program = '', ...rest] = id.split('/');
  if (rest.length < 2) return { key: rest[0], labels: rest.length === 0 ? {} : { program } };
  const [tenant = '', ...key] = rest;
  return { key: key.join('_'), labels: { program, tenant } };
}

/** Multiplies without the digits that binary arithmetic adds: 4.5 us becomes 4.5e-06 s. */
const scaled = (value: number, factor: number): number => Number((value * factor).toPrecision(15));

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');

function effectFamilies({ effects }: View, where: Labels): Family[] {
  const labelsOf = ({ metric, system, baseline }: View['effects'][number]) => ({ metric, system, baseline, ...where });
  const ratio = (part: string, help: string, value: (effect: View['effects'][number]) => number | null): Family => ({
    name: `${PREFIX}_effect${part}_ratio`,
    unit: 'ratio',
    help,
    samples: effects.flatMap((effect): Family['samples'] => {
      const found = value(effect);
      return found === null ? [] : [[labelsOf(effect), found]];
    }),
  });
  return [
    ratio('', 'System against baseline, above 1 is worse', (effect) => effect.ratio),
    ratio('_ci95_lower', 'Lower end of its 95 % interval', ({ ratioCi95 }) => ratioCi95?.[0] ?? null),
    ratio('_ci95_upper', 'Upper end of its 95 % interval', ({ ratioCi95 }) => ratioCi95?.[1] ?? null),
    {
      name: `${PREFIX}_verdict`,
      help: '1 for the verdict',
      samples: effects.map((effect) => [{ ...labelsOf(effect), verdict: effect.verdict }, 1]),
    },
  ];
}

function stateFamilies(view: View, where: Labels): Family[] {
  const states = ['ok', 'unsupported', 'invalid', 'failed'] as const;
  const cells = rowsOf(view).flatMap((row) => row.cells.map((cell) => ({ id: row.id, cell })));
  return [
    {
      name: `${PREFIX}_rounds`,
      help: 'Rounds of a metric by their state',
      samples: cells.flatMap(({ id, cell }) =>
        states.map((status): [Labels, number] => [
          { metric: id, system: cell.system, status, ...where },
          cell.results.filter((result) => result.status === status).length,
        ]),
      ),
    },
    {
      name: `${PREFIX}_violations`,
      help: 'Limits that were shown not to hold',
      samples: view.systems.map(({ name }) => [
        { system: name, ...where },
        view.violations.filter(({ system }) => system === name).length,
      ]),
    },
  ];
}

function documentFamilies({ document }: View, where: Labels): Family[] {
  const one = (name: string, help: string, value: number, unit?: string): Family => ({
    name: `${PREFIX}_${name}`,
    ...(unit !== undefined && { unit }),
    help,
    samples: [[{ tool_version: document.tool.version, ...where }, value]],
  });
  return [
    one('completed', '1 if the measurement was not interrupted', document.completed ? 1 : 0),
    one(
      'start_time_seconds',
      'Start of the measurement, since the epoch',
      Date.parse(document.startedAt) / 1_000,
      'seconds',
    ),
    one('duration_seconds', 'Duration of the measurement', document.durationMs / 1_000, 'seconds'),
  ];
}

function familyText({ name, unit, help, samples }: Family): string {
  const head = [
    `# HELP ${name} ${escaped(help)}`,
    `# TYPE ${name} gauge`,
    ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
  ];
  return [...head, ...samples.map(([labels, value]) => `${name}${labelText(labels)} ${value}`), ''].join('\n');
}

const labelText = (labels: Labels): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')}}`;

const escaped = (text: string): string => plain(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
