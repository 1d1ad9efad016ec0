// Loaded into a coordinator by run-times.js: notes when its worker processes start, are asked, answer and
// end, and when other programs start and end.
import childProcess from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

const file = process.env.GVB_RUN_TIMES;
const spawn = childProcess.spawn;
let count = 0;

const note = (worker, what, name = '') =>
  appendFileSync(file, `${JSON.stringify([performance.now(), worker, what, name])}\n`);

/** Calls `each` with every message of the line protocol that passes. */
function messages(stream, method, each) {
  const pass = stream[method];
  let rest = '';
  stream[method] = function (chunk, ...others) {
    const lines = `${rest}${chunk ?? ''}`.split('\n');
    rest = lines.pop();
    for (const line of lines)
      if (line.startsWith('{"gvb":')) each(/^\{"gvb":"(\w+)"(?:,"id":(\d+))?(?:,"method":"(\w+)")?/.exec(line));
    return pass.call(this, chunk, ...others);
  };
}

childProcess.spawn = (...args) => {
  const child = spawn(...args);
  const worker = count++;
  if (!args[1]?.some((arg) => arg.endsWith('worker/main.js'))) {
    const program = `${basename(args[0])} ${args[1]?.[0] ?? ''}`;
    note(worker, 'spawned', program);
    child.once('exit', () => note(worker, 'exited', program));
    return child;
  }
  const methods = new Map();
  note(worker, 'start');
  messages(child.stdin, 'write', ([, , id, method]) => {
    methods.set(id, method);
    note(worker, 'asked', `${id} ${method}`);
  });
  messages(child.stdout, 'push', ([, what, id]) => {
    if (what === 'ready') note(worker, 'ready');
    else if (what !== 'progress') note(worker, 'answered', `${id} ${methods.get(id)}`);
  });
  const end = child.stdin.end;
  child.stdin.end = function (...last) {
    note(worker, 'stopped');
    return end.apply(this, last);
  };
  child.once('exit', () => note(worker, 'ended'));
  return child;
};
syncBuiltinESMExports();
