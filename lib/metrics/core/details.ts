/**
 * Fields of the details of results. A metric has a schema of its details beside its definition, from which follow their
 * type, the check of every result in tests, their JSON Schema and docs/details.md. Every field says what it is.
 */
import * as v from 'valibot';
import { described, named } from '../../results/described.js';

export { described };

export type DetailsSchema<Details = Record<string, unknown>> = v.GenericSchema<unknown, Details> & {
  readonly entries: v.ObjectEntries;
};

/** A number in a unit. */
export const quantity = (unit: string, about: string): v.GenericSchema<number> =>
  described(v.pipe(v.number(), v.finite()), `${about} (${unit})`);

/** A whole number of things, or of bytes. */
export const count = (about: string): v.GenericSchema<number> =>
  described(v.pipe(v.number(), v.integer(), v.minValue(0)), about);

/** The 95 % interval of a quantity; null if it has none. */
export const interval = (unit: string, about: string): v.GenericSchema<[number, number] | null> =>
  described(
    v.nullable(v.tuple([v.pipe(v.number(), v.finite()), v.pipe(v.number(), v.finite())])),
    `95 % interval of ${about} (${unit}); null without one`,
  );

export const text = (about: string) => described(v.string(), about);
export const flag = (about: string) => described(v.boolean(), about);
export const choice = <const Choices extends readonly string[]>(choices: Choices, about: string) =>
  described(v.picklist(choices), about);

/** Rows of a table. */
export const rows = <const Row extends v.GenericSchema>(row: Row, about: string) => described(v.array(row), about);

/** A row with its numbers, or with the reason why it has none. `key` says which row it is. */
export const rowOrReason = <const Key extends v.ObjectEntries, const Own extends v.ObjectEntries>(key: Key, own: Own) =>
  v.union([
    v.strictObject({ ...key, ...own }),
    v.strictObject({ ...key, unsupported: text('Why this system cannot measure the row; it then has no numbers') }),
    v.strictObject({ ...key, failed: text('The error that ended the row; it then has no numbers') }),
  ]);

/** Why a table stopped collecting samples. */
export const stopReason = () =>
  choice(
    ['iterations', 'resolution reached', 'noise stopped falling', 'cap of samples'],
    'Why no more samples were taken',
  );

const megahertz = (what: string) => v.nullable(quantity('MHz', what));

export const commonDetails = named(
  'CommonDetails',
  v.strictObject({
    scheduling: v.optional(
      described(
        v.nullable(v.picklist(['auto', 'spin', 'yield', 'blocking'])),
        'How the context waits for the GPU (cuCtxGetFlags); null if the driver does not say',
      ),
    ),
    pidMapping: v.optional(
      choice(['same', 'difference', 'none', 'stayed'], "How NVML's list of processes shows the measuring process"),
    ),
    health: v.optional(
      described(
        v.strictObject({
          readings: count('Readings of the GPU, one after every block of samples'),
          last: described(
            v.strictObject({
              smClockMhz: megahertz('SM clock'),
              memoryClockMhz: megahertz('Memory clock'),
              temperatureC: v.nullable(quantity('°C', 'Temperature')),
              powerW: v.nullable(quantity('W', 'Power')),
              performanceState: v.nullable(count('Performance state: 0 is the fastest')),
            }),
            'The last reading',
          ),
        }),
        'State of the GPU by NVML after the last block of samples',
      ),
    ),
  }),
  "What every result may have beside its metric's own details.",
);

export type CommonDetails = v.InferOutput<typeof commonDetails>;
