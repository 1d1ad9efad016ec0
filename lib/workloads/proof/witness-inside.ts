/**
 * The witness in a pod, whose image has this package. Arguments: `begin`, which prints the library and a folder for its records as
 * JSON, or `end FOLDER`, which prints what they show, and removes it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { witnessLibrary } from '../../native/load.js';
import { hooks } from './hooking-files.js';
import { seenIn } from './witness.js';

const [what, named = ''] = process.argv.slice(2);

async function begun() {
  const library = witnessLibrary();
  const folder = library === null ? null : await mkdtemp(join(tmpdir(), 'gvb-witness-'));
  return { library, folder, preload: process.env.LD_PRELOAD ?? '' };
}

async function ended(folder: string) {
  const seen = await seenIn(folder);
  const files = [...new Set(seen.processes.flatMap((each) => each.files))];
  const hooking: string[] = [];
  for (const file of files) if (await hooks(file)) hooking.push(file);
  await rm(folder, { recursive: true, force: true });
  return { ...seen, hooking };
}

process.stdout.write(JSON.stringify(await (what === 'begin' ? begun() : ended(named))));
