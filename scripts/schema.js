#!/usr/bin/env node
/** Writes schema/run-document.schema.json from lib/document.ts (through dist); --check says whether it is current. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { toJsonSchema } from '@valibot/to-json-schema';
import { runDocumentSchema } from '../dist/document.js';

const file = new URL('../schema/run-document.schema.json', import.meta.url);

// JSON knows no infinity, so `finite` needs no counterpart.
const { $schema, ...schema } = toJsonSchema(runDocumentSchema, { target: 'draft-07', ignoreActions: ['finite'] });
const text = `${JSON.stringify(
  {
    $schema,
    $id: 'urn:gpu-virt-bench:schema:run-document',
    title: 'gpu-virt-bench run document',
    ...schema,
  },
  null,
  2,
)}\n`;

if (!process.argv.includes('--check')) {
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
  console.error('error: schema/run-document.schema.json differs from lib/document.ts: run npm run schema.');
  process.exitCode = 1;
}
