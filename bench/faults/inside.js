// Runs commands of faults.js in this process, one after the other, and says what each printed. A start takes longer than
// most of these commands, which are refused or only read files.
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const main = new URL('../../dist/cli/main.js', import.meta.url);
const emitters = [
  [process.stdout, 'error'],
  [process.stderr, 'error'],
  ...['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'].map((name) => [process, name]),
];
const escaped = [];
for (const name of ['uncaughtException', 'unhandledRejection'])
  process.on(name, (error) => escaped.push(`${name}: ${error?.stack ?? error}`));
// A command must not end the process of the others.
const exit = process.exit;

let count = 0;
async function run({ args, cwd }) {
  const seen = { stdout: '', stderr: '' };
  const listeners = emitters.map(([emitter, event]) => emitter.listeners(event));
  const writes = ['stdout', 'stderr'].map((name) => process[name].write);
  process.chdir(cwd);
  process.argv = [process.execPath, fileURLToPath(main), ...args];
  process.exitCode = undefined;
  process.exit = (code) => {
    process.exitCode = code ?? process.exitCode;
  };
  for (const name of ['stdout', 'stderr'])
    process[name].write = (chunk, encoding, done) => {
      seen[name] += chunk;
      const written = typeof encoding === 'function' ? encoding : done;
      written?.();
      return true;
    };
  let thrown = null;
  try {
    await import(`${main.href}?${count++}`);
    // What was forgotten to be awaited is said now.
    await new Promise((resolve) => setImmediate(resolve));
  } catch (error) {
    thrown = `thrown: ${error?.stack ?? error}`;
  } finally {
    ['stdout', 'stderr'].forEach((name, i) => (process[name].write = writes[i]));
    emitters.forEach(([emitter, event], i) => {
      for (const listener of emitter.listeners(event))
        if (!listeners[i].includes(listener)) emitter.off(event, listener);
    });
    process.exit = exit;
    process.chdir('/');
  }
  const code = Number(process.exitCode ?? 0);
  process.exitCode = 0;
  return { code, signal: null, ...seen, escaped: [...(thrown === null ? [] : [thrown]), ...escaped.splice(0)] };
}

process.on('message', (request) => void run(request).then((answer) => process.send(answer)));
process.on('disconnect', () => exit(0));
