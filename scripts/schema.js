#!/usr/bin/env node
// Writes schema/*.schema.json from lib/document.ts (through dist); --check says whether they are current.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { toJsonSchema } from '@valibot/to-json-schema';
import { comparisonDocumentSchema, runDocumentSchema } from '../dist/document.js';

const folder = new URL('../schema/', import.meta.url);
const documents = { run: runDocumentSchema, comparison: comparisonDocumentSchema };

function textOf(kind, valibotSchema) {
  // JSON knows no infinity, so `finite` needs no counterpart.
  const { $schema, ...schema } = toJsonSchema(valibotSchema, { target: 'draft-07', ignoreActions: ['finite'] });
  const title = `gpu-virt-bench ${kind} document`;
  return `${JSON.stringify({ $schema, $id: `urn:gpu-virt-bench:schema:${kind}-document`, title, ...schema }, null, 2)}\n`;
}

for (const [kind, schema] of Object.entries(documents)) {
  const file = new URL(`${kind}-document.schema.json`, folder);
  const text = textOf(kind, schema);
  if (!process.argv.includes('--check')) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  } else if (readFileSync(file, 'utf8') !== text) {
    console.error(`error: schema/${kind}-document.schema.json differs from lib/document.ts: run npm run schema.`);
    process.exitCode = 1;
  }
}
