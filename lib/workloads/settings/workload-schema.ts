/** The settings of a workload of `exec --config`, and of what is in it. docs/exec.md explains them. */
import type * as v from 'valibot';
import {
  anyScalar,
  choice,
  command,
  commands,
  type Field,
  field,
  flag,
  integer,
  key,
  map,
  matching,
  needed,
  number,
  duration,
  pattern,
  percent,
  scalar,
  seconds,
  size,
  text,
  variableNames,
  variables,
} from '../../config/schema.js';
import { label } from '../../config/label.js';
import { exactlyOne, later, list, mapOf, oneOf, orText, settings } from '../../config/read.js';
import { Refused } from '../../config/refused.js';
import { loadSettings } from '../../load/load-config.js';
import { perChoices } from '../../metrics/core/per.js';
import { INTERVAL_LIMITS } from '../../monitor/options.js';
import type { Delta } from '../../stats/rule/effect.js';
import { isPointer } from '../metrics/json-pointer.js';
import { taskNames } from './task-names.js';
import { CHECKPOINT_DEFAULTS, choices, DEFAULTS } from '../workload-type.js';

const MOST_WARMUP = 10_000;
const MOST_ITERATIONS = 100_000;
/** Longest pattern, in characters: long ones can take for ever. */
const LONGEST_PATTERN = 500;
const LONGEST_UNIT = 20;
const MOST_TURNS = 1_000;

const unit = (): Field<string, string> =>
  scalar(
    `a text of at most ${LONGEST_UNIT} characters`,
    { json: { type: 'string', maxLength: LONGEST_UNIT } },
    (given) => (given.length <= LONGEST_UNIT && !/[\p{Cc}]/u.test(given) ? given : undefined),
  );

/**
 * A setting for δ: `3%` is relative; a number is in the unit of the metric, for values that may be zero or negative.
 */
const delta = (): Field<string | number, Delta> =>
  scalar(
    "a percentage such as 2%, or a number above 0 in the metric's unit",
    { json: { type: ['string', 'number'] } },
    (given) => {
      const [, digits = '', sign] = /^(\d+(?:\.\d+)?) ?(%)?$/.exec(given) ?? [];
      const value = Number(digits);
      if (digits === '' || value <= 0 || value > 1e9 || (sign && value > 100)) return undefined;
      return sign ? { relative: value / 100 } : { absolute: value };
    },
  );

const pointer = (): Field<string, string> =>
  field({ json: { type: 'string' } }, (raw) =>
    typeof raw === 'string' && isPointer(raw)
      ? raw
      : new Refused('a JSON pointer such as /results/0/tokens_per_second'),
  );

export const metricSettings = exactlyOne(
  {
    from: key(
      choice(['stdout', 'stderr']),
      'Stream to which the number is printed. Not together with file. Default: stdout.',
    ),
    file: key(text(), 'A file that the run writes, relative to its folder.'),
    regex: key(pattern(LONGEST_PATTERN, 'gm'), 'A regular expression, whose first group is the number.'),
    json: key(pointer(), 'A JSON pointer into the output, which is one JSON text.'),
    jsonl: key(pointer(), 'A JSON pointer into every line that is a JSON text.'),
    take: key(choice(choices), 'Which of several numbers of one run.', 'last'),
    unit: needed(unit(), 'Unit of the number.'),
    direction: needed(choice(['lower', 'higher', 'none']), 'Which is better.'),
    delta: key(
      delta(),
      'What counts as a difference: `2%`, or a number in the unit for values that may be zero or negative.',
      '2%',
    ),
    per: key(
      choice(perChoices),
      'What it counts by, where its unit does not say it (`tokens/s`, `requests/s`, `steps/s`). `none`: nothing.',
    ),
  },
  ['regex', 'json', 'jsonl'],
);

const url = (): Field<string, string> =>
  scalar('a URL such as http://127.0.0.1:8000/health', { json: { type: 'string' } }, (given) => {
    const parsed = URL.canParse(given) ? new URL(given) : null;
    return parsed && (parsed.protocol === 'http:' || parsed.protocol === 'https:') ? parsed.href : undefined;
  });

const ready = oneOf({
  line: needed(text(), 'A line that it prints, on stdout or stderr, holds this text.'),
  port: needed(integer(1, 65_535), 'Something accepts connections at this TCP port of 127.0.0.1 or ::1.'),
  http: needed(url(), 'A GET request is answered with a status from 200 to 299.'),
  file: needed(text(), 'The file exists.'),
});

const checkpoint = settings({
  repeat: key(integer(1, MOST_TURNS), 'How often it is checkpointed and restored.', CHECKPOINT_DEFAULTS.repeat),
  hold: key(seconds(), 'Seconds for which it stays checkpointed.', CHECKPOINT_DEFAULTS.holdSeconds),
  answer: key(
    ready,
    'What the first answer after a restore is, in the words of `ready`, of which only what is new counts. Default: that of `ready` if it is `http`.',
  ),
});

const exit = (): Field<number | readonly number[], number[]> => {
  const code = { type: 'integer', minimum: 0, maximum: 255 };
  return field({ json: { anyOf: [code, { type: 'array', items: code, minItems: 1 }] } }, (raw) => {
    const codes = [raw].flat().map((each) => (typeof each === 'string' && /^\d{1,3}$/.test(each) ? Number(each) : 256));
    return codes.length > 0 && codes.every((each) => each <= 255)
      ? codes
      : new Refused('an exit code from 0 to 255, or a list of them');
  });
};

/** The settings of a program that is measured, alone or as a tenant. */
const program = {
  argv: key(command(), 'The program and its arguments as a list; no shell reads them.'),
  folder: key(
    text(),
    'Folder in which the program runs. Default: the current directory, and with --config the folder of the file.',
  ),
  env: key(variables(), 'Variables of the program.'),
  passEnv: key(variableNames(), "Variables of the caller that it gets as they are. Default: none beside the system's."),
  exit: key(exit(), 'Exit codes that are no failure. Default: 0.'),
  ready: key(ready, 'How it is seen that it can serve.'),
  stopAfter: key(
    seconds(),
    'Seconds from when it is ready, or from the end of its load, until it is stopped. Default: it ends by itself; with a load, 0.',
  ),
  load: key(loadSettings, 'Requests that are sent to it while it is ready; needs `ready`.'),
  metrics: key(mapOf(metricSettings), 'Metrics of what a run prints or writes, by name.'),
};

const limits = settings({
  memory: key(size(), 'Such as `10GiB`, or `50%` of the card.'),
  sm: key(percent(), 'Per cent of the SMs.'),
});

export const tenantName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;

export const tenantSettings = settings({
  name: key(
    matching(tenantName, 'at most 40 letters, digits and _ -, the first a letter or digit'),
    'Part of the ids. Default of a task: its name.',
  ),
  role: key(
    choice(['victim', 'aggressor']),
    'A victim is measured alone and beside the others; aggressors run until it has ended. Default: victim; of a task aggressor.',
  ),
  task: key(choice(taskNames), 'An aggressor of the fixed menu, whose work the device counts. This or `argv`.'),
  limits: key(limits, "Limits in place of the system's, where it has such."),
  ...program,
});

export const workloadSettings = settings({
  name: needed(label(), 'How ids of its metrics begin.'),
  ...program,
  record: key(
    mapOf(command()),
    'Commands whose output the document keeps by these names, such as a list of packages; run once, outside the system.',
  ),
  setup: key(commands(), 'Commands before the runs of every round, outside the system.'),
  teardown: key(commands(), 'Commands after the runs of every round, outside the system.'),
  warmup: key(integer(0, MOST_WARMUP), 'Runs of every round before those that count.', DEFAULTS.warmup),
  iterations: key(integer(1, MOST_ITERATIONS), 'Runs of every round that count.', DEFAULTS.iterations),
  timeout: key(seconds({ isAbove: true }), 'Time limit of a run, in seconds.', DEFAULTS.timeoutSeconds),
  coolDown: key(
    settings({
      pause: key(seconds(), 'Shortest pause, in seconds.', DEFAULTS.coolDown.pauseSeconds),
      most: key(seconds(), 'Longest wait for the temperature, in seconds.', DEFAULTS.coolDown.mostSeconds),
      degrees: key(
        number('a number of degrees from 0 to 100', { least: 0, most: 100 }),
        'How much warmer than before the first run the GPU may be, in °C.',
        DEFAULTS.coolDown.degrees,
      ),
    }),
    'What happens before every run.',
    {},
  ),
  checkpoint: key(
    orText(true, checkpoint),
    'Checkpoints and restores the program when it is ready, before its load; needs `ready`. `true`: with the defaults.',
  ),
  monitor: key(
    orText(
      false,
      settings({
        interval: key(
          duration(INTERVAL_LIMITS),
          'How often the GPU is read, such as `100ms`.',
          `${DEFAULTS.monitor.intervalMs}ms`,
        ),
        csv: key(flag(), 'Whether every run has a file of it.', DEFAULTS.monitor.csv),
      }),
    ),
    'How the GPU is read while the program runs; `false`: without files.',
    {},
  ),
  matrix: key(
    map({ type: 'object', additionalProperties: { type: 'array', items: anyScalar, minItems: 1 } }),
    'Values for `{NAME}` in the other settings: one workload for every combination.',
  ),
  tenants: key(
    list(later(tenantSettings, 'a list of maps'), 'a list of tenants'),
    'Makes it a scene: all of them share the GPU. `argv` is then the victim, if it is there.',
  ),
  limits: key(limits, "Limits of its own program beside tenants, in place of the system's."),
});

export type GivenWorkload = v.InferOutput<typeof workloadSettings>;
export type GivenTenant = v.InferOutput<typeof tenantSettings>;
/** Settings that a workload and a tenant have in common. */
export type GivenProgram = Pick<GivenTenant, keyof typeof program>;
export type GivenMetric = v.InferOutput<typeof metricSettings>;
export type GivenLimits = NonNullable<GivenTenant['limits']>;
