/** Speaks the worker's protocol without an addon. Its behaviour is the method it is asked. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`\n${JSON.stringify(message)}\n`);
const mode = process.env.FAKE_MODE ?? 'obedient';

const methods = {
  echo: (id, params) => send({ gvb: 'result', id, value: params }),
  environment: (id) => send({ gvb: 'result', id, value: process.env }),
  noisy: (id) => {
    process.stdout.write('layer: unfinished line');
    console.error('layer: on stderr');
    send({ gvb: 'result', id, value: 'heard' });
  },
  steps: (id) => {
    for (const value of [1, 2, 3]) send({ gvb: 'progress', id, value });
    send({ gvb: 'result', id, value: 'done' });
  },
  fail: (id, error) => send({ gvb: 'error', id, error }),
  exit: (_, code) => {
    console.error('about to leave');
    process.exit(code);
  },
  crash: () => process.kill(process.pid, 'SIGSEGV'),
  hang: () => {},
  chatter: (id) => {
    process.stdout.write(`${'x'.repeat(1024)}\n`.repeat(200), () => send({ gvb: 'result', id, value: null }));
  },
  /** A grandchild that ignores SIGTERM: only the end of the whole group takes it along. */
  grandchild: (id) => {
    const script = "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000);";
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.once('data', () => send({ gvb: 'result', id, value: child.pid }));
  },
};

if (mode === 'stubborn') process.on('SIGTERM', () => {});
if (mode === 'stillborn') {
  console.error('ld.so: cannot start');
  process.exit(7);
}
if (mode !== 'mute') send({ gvb: 'ready', pid: process.pid, mainNs: String(process.hrtime.bigint()), addonLoadNs: 12 });
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line === '') return;
  const { id, method, params } = JSON.parse(line);
  methods[method](id, params);
});
lines.on('close', () => {
  if (mode !== 'stubborn') process.exit(0);
  setInterval(() => {}, 1_000);
});
