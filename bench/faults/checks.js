// What has to be so after every case of faults.js, whatever was broken.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';

/** As README.md and lib/cli/options/exit-codes.ts have them. */
const EXIT_CODES = [0, 1, 2, 3, 4, 5, 130];
const STACK = /^\s+at .*[:)]\d+/m;
const CRASH =
  /\b(unhandled|uncaught|segmentation fault|terminate called|assertion|core dumped|heap out of memory|MaxListenersExceeded|node:internal)\b/i;
/** What a program prints that did not look at what it has. */
const UNREAD = /\b(undefined|\[object Object\])/;

const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
const validators = {};
function validator(kind) {
  const path = fileURLToPath(new URL(`../../schema/${kind}-document.schema.json`, import.meta.url));
  return (validators[kind] ??= ajv.compile(JSON.parse(readFileSync(path, 'utf8'))));
}

/** Whether it is of details alone, which are passed on as they came where a document is only read. */
const ofDetails = ({ instancePath, keyword }) => instancePath.includes('/details') || keyword === 'if';

/** What is wrong with a document; null if nothing. `measured`: it was not made of another one, which was broken. */
function documentFault(text, measured) {
  let document;
  try {
    document = JSON.parse(text);
  } catch (error) {
    return `half-written: ${error.message}`;
  }
  const kind = document.kind === 'comparison' ? 'comparison' : 'run';
  const validate = validator(kind);
  validate(document);
  const errors = (validate.errors ?? []).filter((error) => measured || !ofDetails(error));
  if (errors.length > 0) return `not valid: ${ajv.errorsText(errors.slice(0, 2))}`;
  const results = kind === 'run' ? document.metrics : document.systems.flat().flatMap(({ metrics }) => metrics);
  const numbered = results.find(({ status, value }) => (status === 'ok') !== Number.isFinite(value));
  return numbered ? `${numbered.id} is ${numbered.status} and has the value ${numbered.value}` : null;
}

function* messageFaults({ code, stderr }, input) {
  if (STACK.test(stderr)) yield 'a stack trace';
  if (CRASH.test(stderr)) yield 'a crash';
  if (code === 2 && !/^error: \S/m.test(stderr)) yield 'exit code 2 without an error';
  if (code === 2 && stderr.split('\n').filter((line) => line.startsWith('error: ')).length > 1)
    yield 'more than one error';
  if (UNREAD.test(stderr) && !UNREAD.test(input)) yield 'a message with a value that was not there';
}

/** `killed`: the signals that the case sent; `mayLeave`: whether the command could not clean up. */
export function faultsOf(
  outcome,
  { input, killed = [], documents = [], measured = false, temporary, mayLeave = false },
) {
  const { code, signal, escaped = [], timedOut = false, left = [] } = outcome;
  const faults = [...escaped, ...messageFaults(outcome, input)];
  if (timedOut) faults.push('it did not end in time');
  else if (signal !== null && !killed.includes(signal)) faults.push(`ended by ${signal}`);
  else if (signal === null && !EXIT_CODES.includes(code)) faults.push(`exit code ${code}`);
  for (const path of documents.filter((each) => existsSync(each))) {
    const fault = documentFault(readFileSync(path, 'utf8'), measured);
    if (fault !== null) faults.push(`the document is ${fault}`);
  }
  if (left.length > 0) faults.push(`processes are left: ${left.join('; ')}`);
  const files = mayLeave ? [] : readdirSync(temporary);
  if (files.length > 0)
    faults.push(`left in TMPDIR: ${files.map((name) => describe(join(temporary, name))).join(', ')}`);
  return faults;
}

function describe(path) {
  try {
    return `${path} (${readdirSync(path).join(' ')})`;
  } catch {
    return path;
  }
}
