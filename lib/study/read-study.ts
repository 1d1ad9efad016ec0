/** Reads study.yaml, and checks what its schema cannot express. */
import { basename, join, resolve } from 'node:path';
import { isMap } from '../config/raw.js';
import { read } from '../config/read.js';
import { Place } from '../config/setting-place.js';
import { readYaml, readYamlText } from '../config/yaml.js';
import { listed } from '../errors/listed.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { isOwnOption } from '../fleet/plan.js';
import { firstTwice } from '../results/first-twice.js';
import { type PlannedStep, type Study, studySettings, type StudyStep, type StudyTable } from './study-settings.js';

const STUDY = 'study.yaml';
const COMMANDS = ['run', 'compare', 'exec'];

const PARAMETER = /\{([A-Za-z]\w*)\}/g;

interface Wanted {
  /** The values of --set, by parameter. */
  given: ReadonlyMap<string, string>;
  isShort: boolean;
}

/** Throws UsageError with the place of what is wrong. */
export async function readStudy(folder: string, { given, isShort }: Wanted): Promise<Study> {
  const file = join(folder, STUDY);
  const source = readYaml(await readYamlText(file, 'the study'), file);
  return source.at([], () => {
    if (!isMap(source.value)) throw new UsageError('Expected a map with the key steps.');
    const place = new Place(source.value, 'the study');
    const study = read(studySettings, place);
    checkCard(place.inside('source').inside('card'));
    checkNames(study.steps, place);
    const values = valuesOf(study.parameters, given);
    const steps = study.steps.map((step, index) => planned(step, isShort, values, place.entry('steps', index)));
    checkRows(study, place);
    return { ...study, steps, name: basename(resolve(folder)), folder: resolve(folder) };
  });
}

/** Half of what a peak is computed from would give a wrong one, or none without a word. */
function checkCard(card: Place): void {
  const both = ['computeCapability', 'multiprocessors'];
  const given = both.filter((key) => card.has(key));
  if (given.length === 1)
    throw card.error(
      given[0] as string,
      `Expected ${card.owner} to have ${listed(both)}, or neither, but received ${given[0]} alone: its peak follows from both.`,
    );
}

function checkNames(steps: readonly StudyStep[], place: Place): void {
  const twice = firstTwice(steps.map(({ name }) => name));
  if (twice !== null)
    throw place.error('steps', `Expected steps of different names but received ${quoted(twice)} twice.`);
}

function valuesOf(parameters: Study['parameters'], given: ReadonlyMap<string, string>): Map<string, string | null> {
  const known = [...(parameters?.keys() ?? [])];
  for (const name of given.keys())
    if (!known.includes(name))
      throw new UsageError(
        `Expected --set to name a parameter of the study but received ${quoted(name)}: it has ${known.length === 0 ? 'none' : listed(known)}.`,
      );
  return new Map([...(parameters ?? [])].map(([name, own]) => [name, given.get(name) ?? own.default ?? null]));
}

/** The step as it is run, with the values of parameters in the place of `{NAME}`. */
function planned(
  { short, ...step }: StudyStep,
  isShort: boolean,
  values: ReadonlyMap<string, string | null>,
  place: Place,
): PlannedStep {
  checkCommand(step.argv, 'argv', values, place);
  if (short) checkCommand(short, 'short', values, place);
  const lacks = new Set<string>();
  const put = (argument: string, index: number, all: readonly string[]): string =>
    argument.replace(PARAMETER, (text, name: string) => {
      const value = values.get(name);
      if (value === null) lacks.add(name);
      // Commas separate the settings of a system.
      return (all[index - 1] === '--system' ? value?.replaceAll(',', '\\,') : value) ?? text;
    });
  const one = (argument: string) => put(argument, 0, []);
  const shortened = isShort ? short : undefined;
  // Stand-ins need nothing.
  const needs = (shortened ? [] : (step.needs ?? [])).map((need) => ({
    ...need,
    ...(need.program !== undefined && { program: one(need.program) }),
    ...(need.file !== undefined && { file: one(need.file) }),
    ...(need.try && { try: need.try.map(one) }),
  }));
  return { ...step, argv: (shortened ?? step.argv).map(put), needs, lacks: [...lacks] };
}

function checkCommand(
  argv: readonly string[],
  key: 'argv' | 'short',
  values: ReadonlyMap<string, unknown>,
  place: Place,
): void {
  if (!COMMANDS.includes(argv[0] ?? ''))
    throw place.expected(key, `a command that begins with ${listed(COMMANDS, 'or')}`);
  const end = argv.indexOf('--');
  const options = argv.slice(0, end < 0 ? undefined : end);
  const own = options.find(isOwnOption);
  if (own !== undefined)
    throw place.error(key, `Expected ${place.named(key)} without ${quoted(own)}: the study says where results go.`);
  // A program after -- may use braces of its own.
  const unknown = options
    .flatMap((text) => [...text.matchAll(PARAMETER)])
    .map(([, name = '']) => name)
    .find((name) => !values.has(name));
  if (unknown !== undefined)
    throw place.error(
      key,
      `Expected ${place.named(key)} to name parameters of the study but received ${quoted(`{${unknown}}`)}: it has ${values.size === 0 ? 'none' : listed([...values.keys()])}.`,
    );
}

function checkRows(
  { steps, tables }: { steps: readonly StudyStep[]; tables: readonly StudyTable[] },
  place: Place,
): void {
  const names = steps.map(({ name }) => name);
  for (const [index, { columns, rows }] of tables.entries())
    for (const [number, row] of rows.entries()) {
      const at = place.entry('tables', index).entry('rows', number);
      if (row.step !== undefined && !names.includes(row.step)) throw at.expected('step', listed(names, 'or'));
      if (row.stat !== undefined && row.detail !== undefined)
        throw at.error('detail', `Expected a row to have stat or detail but received both: ${quoted(row.name)}.`);
      const column = [...(row.published?.keys() ?? [])].find((each) => !columns.has(each));
      if (column !== undefined)
        throw at.error(
          'published',
          `Expected columns of the table, ${listed([...columns.keys()])}, but received ${quoted(column)}.`,
        );
    }
}
