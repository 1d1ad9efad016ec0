#!/usr/bin/env node
// Writes schema/*.schema.json from lib/results/ (through dist); --check fails if they are not current.
import { toJsonSchema } from '@valibot/to-json-schema';
import { callProfileSchema } from '../dist/results/call-profile.js';
import { comparisonDocumentSchema, runDocumentSchema } from '../dist/results/document.js';
import { generated } from './generated.js';

const documents = [
  ['run document', runDocumentSchema, 'document'],
  ['comparison document', comparisonDocumentSchema, 'document'],
  ['call profile', callProfileSchema, 'call-profile'],
];

function textOf(title, valibotSchema) {
  // JSON has no infinity, so `finite` needs no counterpart.
  const { $schema, ...schema } = toJsonSchema(valibotSchema, { target: 'draft-07', ignoreActions: ['finite'] });
  const $id = `urn:gpu-virt-bench:schema:${fileOf(title)}`;
  return `${JSON.stringify({ $schema, $id, title: `gpu-virt-bench ${title}`, ...schema }, null, 2)}\n`;
}

const fileOf = (title) => title.replace(' ', '-');

for (const [title, schema, source] of documents)
  generated(`schema/${fileOf(title)}.schema.json`, textOf(title, schema), {
    source: `lib/results/${source}.ts`,
    command: 'npm run schema',
  });
