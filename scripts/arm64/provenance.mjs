// Prints the driver functions that a preloaded library answers to cuGetProcAddress with: node provenance.mjs DIST.
import { join } from 'node:path';

const { getProvenance } = await import(join(process.argv[2], 'index.js'));
const functions = await getProvenance({ simulate: true });
const owned = functions.filter(({ interposed }) => interposed.includes('runtime'));
console.log(owned.map(({ name }) => name).join(' '));
