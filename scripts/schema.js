#!/usr/bin/env node
// Writes schema/*.schema.json from lib/results/document.ts (through dist); --check says whether they are current.
import { toJsonSchema } from '@valibot/to-json-schema';
import { comparisonDocumentSchema, runDocumentSchema } from '../dist/results/document.js';
import { generated } from './generated.js';

const documents = { run: runDocumentSchema, comparison: comparisonDocumentSchema };

function textOf(kind, valibotSchema) {
  // JSON knows no infinity, so `finite` needs no counterpart.
  const { $schema, ...schema } = toJsonSchema(valibotSchema, { target: 'draft-07', ignoreActions: ['finite'] });
  const title = `gpu-virt-bench ${kind} document`;
  return `${JSON.stringify({ $schema, $id: `urn:gpu-virt-bench:schema:${kind}-document`, title, ...schema }, null, 2)}\n`;
}

for (const [kind, schema] of Object.entries(documents))
  generated(`schema/${kind}-document.schema.json`, textOf(kind, schema), {
    source: 'lib/results/document.ts',
    command: 'npm run schema',
  });
