#!/usr/bin/env node
/** Imports late: a start with LD_PRELOAD only restarts, and --help loads no measurement code. */
import { descriptorShortage } from './files/descriptors.js';
import { restartWithoutPreload } from './process/restart.js';
import { tieToParent } from './process/tied.js';

async function start(): Promise<void> {
  await restartWithoutPreload();
  await tieToParent();
  const { main } = await import('./program.js');
  await main(process.argv);
}

try {
  await start();
} catch (error) {
  const shortage = descriptorShortage(error);
  if (shortage === null) throw error;
  process.stderr.write(`error: ${shortage}\n`);
  process.exitCode = 1;
}
