/** Stand-ins for nvshare's library and scheduler. The real ones have one socket for the whole machine, these one for each test. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './temporary.js';

const source = fileURLToPath(new URL('cli/fixtures/nvshare-stand-in.c', import.meta.url));

/** What the scheduler does wrong. */
type Fault = 'none' | 'ends' | 'deaf' | 'stubborn';

export function nvshareStandIn(fault: Fault = 'none') {
  const folder = temporaryFolder('nvs');
  const socket = join(folder, 'made', 'scheduler.sock');
  const scheduler = join(folder, 'scheduler.cjs');
  writeFileSync(scheduler, schedulerScript(socket, fault), { mode: 0o755 });
  return { folder, socket, scheduler, told: join(folder, 'told') };
}

export function standInLibrary({ folder, socket }: { folder: string; socket: string }, ...macros: string[]): string {
  const library = join(folder, `lib${macros.join('-') || 'nvshare'}.so`);
  const defined = [`-DSOCKET="${socket}"`, ...macros.map((name) => `-D${name}`)];
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, ...defined, source, '-ldl']);
  return library;
}

/** Writes down what it is told, and answers whoever registers. */
const schedulerScript = (socket: string, fault: Fault) => `#!${process.execPath}
const { appendFileSync, mkdirSync, rmSync } = require('node:fs');
const { dirname } = require('node:path');
const socket = ${JSON.stringify(socket)};
if (${fault === 'ends'}) { console.error('[NVSHARE][FATAL]: no right to'); process.exit(1); }
mkdirSync(dirname(socket), { recursive: true });
rmSync(socket, { force: true });
let isOn = true;
require('node:net').createServer((client) => {
  let bytes = Buffer.alloc(0);
  client.on('error', () => {});
  client.on('data', (chunk) => {
    for (bytes = Buffer.concat([bytes, chunk]); bytes.length >= 537; bytes = bytes.subarray(537)) {
      const type = bytes[0];
      const data = bytes.toString('latin1', 517, 537).replace(/\\0.*/, '');
      if (type !== 1) appendFileSync(dirname(dirname(socket)) + '/told', type + ' ' + data + '\\n');
      if (type === 2 || type === 3) isOn = ${fault === 'stubborn'} || type === 2;
      if (type === 1 && ${fault !== 'deaf'}) client.write(Buffer.from([isOn ? 2 : 3, ...Buffer.alloc(536)]));
    }
  });
}).listen(socket);
`;
