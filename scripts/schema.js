#!/usr/bin/env node
// Writes schema/*.schema.json from the schemas of documents and of settings in lib (through dist); --check fails if they are not current.
import { toJsonSchema } from '@valibot/to-json-schema';
import { callProfileSchema } from '../dist/results/call-profile.js';
import { comparisonDocumentSchema, metricResultSchema, runDocumentSchema } from '../dist/results/document.js';
import { deliverySchema } from '../dist/fleet/delivery.js';
import { planSchema } from '../dist/fleet/plan.js';
import { fleetReportSchema, nodeVerdictSchema } from '../dist/fleet/report/document.js';
import { withDetails } from './details.js';
import { generated } from './generated.js';
import { files } from './settings.js';
import { withSharedParts } from './shared-schemas.js';

// JSON has no infinity, so `finite` needs no counterpart; what a `check` says, JSON Schema cannot.
const schemaOf = (valibotSchema, definitions) =>
  toJsonSchema(valibotSchema, { target: 'draft-07', ignoreActions: ['finite', 'check'], definitions });
const ofResults = (valibotSchema) =>
  withSharedParts(withDetails(schemaOf(valibotSchema, { result: metricResultSchema }), schemaOf));

const documents = [
  ['run document', ofResults(runDocumentSchema), 'results/document'],
  ['comparison document', ofResults(comparisonDocumentSchema), 'results/document'],
  ['call profile', schemaOf(callProfileSchema), 'results/call-profile'],
  ['fleet plan', schemaOf(planSchema), 'fleet/plan'],
  ['fleet delivery', schemaOf(deliverySchema), 'fleet/delivery'],
  ['fleet report', withSharedParts(schemaOf(fleetReportSchema)), 'fleet/report/document'],
  ['fleet node verdict', schemaOf(nodeVerdictSchema), 'fleet/report/document'],
];

/** Breaks lines only after objects: indented, the schemas would be a fifth larger in the package. */
function textOf(title, { $schema, ...schema }) {
  const $id = `urn:gpu-virt-bench:schema:${fileOf(title)}`;
  const text = JSON.stringify({ $schema, $id, title: `gpu-virt-bench ${title}`, ...schema });
  // A quote within a string has a backslash before it.
  return `${text.replaceAll('},"', '},\n"')}\n`;
}

const fileOf = (title) => title.replaceAll(' ', '-');

for (const [title, schema, source] of documents)
  generated(`schema/${fileOf(title)}.schema.json`, textOf(title, schema), {
    source: `lib/${source}.ts`,
    command: 'npm run schema',
  });

for (const [title, schema] of Object.entries(files))
  generated(
    `schema/${title}.schema.json`,
    textOf(title, { $schema: 'http://json-schema.org/draft-07/schema#', ...schema }),
    {
      source: 'the schemas of settings',
      command: 'npm run schema',
    },
  );
