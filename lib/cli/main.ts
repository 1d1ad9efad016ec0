#!/usr/bin/env node
/** Imports late: a preloaded start only starts again, and --help loads nothing that measures. */
import { restartWithoutPreload } from './restart.js';

const code = await restartWithoutPreload();
if (code === null) {
  const { main } = await import('./program.js');
  await main(process.argv);
} else process.exitCode = code;
