/** Fields of details that several isolation metrics have: limits, and lines of shares over time. */
import * as v from 'valibot';
import { described, quantity, rows, text } from '../core/details.js';

export const limitPercent = quantity('%', "The tenant's compute limit, of the card");

export const quotaPercent = v.nullable(
  quantity('%', "The tenant's compute limit, of the card; null if the system sets none"),
);

export const shareLines = rows(
  v.strictObject({
    name: text('What the line shows'),
    limitPercent: quotaPercent,
    binMs: quantity('ms', 'Length of a bin'),
    percent: described(
      v.array(v.pipe(v.number(), v.finite())),
      'Work of each bin, relative to work without a limit (%)',
    ),
  }),
  'A line per load: its share of the compute over time',
);

export const windowsField = (about: string) =>
  described(
    v.strictObject({
      freeMs: quantity('ms', 'Time of the run without a limit'),
      dropMs: quantity('ms', 'Time under the limit that is left out, for a controller to settle'),
      keepMs: quantity('ms', 'Time under the limit that is measured'),
    }),
    about,
  );
