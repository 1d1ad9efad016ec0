/** Runs the built command line as a user would, with an empty HOME and its own simulated card. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv, type ValidateFunction } from 'ajv';
import { onTestFailed, TestRunner } from 'vitest';
import type { ComparisonDocument, RunDocument } from '../../lib/results/document.js';
import { findingText } from '../../lib/results/text/health-text.js';
import { loadAddon, simulatedDriverFolder } from '../../lib/native/load.js';
import { SAID_MS } from '../limits.js';
import { processesOf } from '../processes.js';
import { ownRegion, temporaryFolder } from '../temporary.js';

export { processesOf } from '../processes.js';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const main = join(root, 'dist/cli/main.js');
export const addonFile = join(root, 'build/Release/gpu_virt_bench.node');

/** Whether this machine has a driver: without a request nothing is simulated then. */
export const hasDriver = loadAddon().probeDriver({ timeoutMs: 60_000 }).path !== null;
export const simulatedFolder = simulatedDriverFolder() ?? '/the-simulated-driver-is-not-built';
/** UUID of the first simulated card. */
export const FIRST_CARD = 'GPU-67766273-696d-4000-8000-000000000000';
/** A script of Node that loads the simulated driver, and lives so long that it can be looked at from outside. */
export const loadsDriver = (aliveMs = 3_000): string =>
  `require('${addonFile}').inspect({ simulatedDriver: '${simulatedFolder}' }); setTimeout(() => {}, ${aliveMs});`;

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  /** Set in the environment of the command and of every process it starts. */
  mark: string;
  /** Resolves when stderr contains the text; rejects if the command ends without it, or does not print it in time. */
  said: (text: string) => Promise<void>;
  done: Promise<Outcome>;
}

export const emptyFolder = (): string => temporaryFolder('cli');

/** A system whose processes see a simulated card with other settings; a separate card unless `region` names it. */
export const systemOnCard = (name: string, sim: string, region = ownRegion('cli')): string =>
  `custom:name=${name},env.GVB_SIM=region=${region}\\,${sim.replaceAll(',', '\\,')}`;

/** Short call costs: most tests are not about them, and the card spins for the time. */
export const shortCalls = { init_ms: 4, context_ms: 4, alloc_us: 4, free_us: 4, vmm_us: 4 };
const SHORT = Object.entries(shortCalls)
  .map(([name, value]) => `${name}=${value}`)
  .join(',');

/** GVB_SIM for a card with these settings, which precede its own. */
export const cardIn = (region: string, sim = ''): string => `region=${region},${SHORT}${sim && `,${sim}`}`;

/** `sim`: further settings of the simulated card. If the test fails, the command's output is printed. */
export function start(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  sim = '',
  cwd = emptyFolder(),
): Running {
  const mark = randomUUID();
  const child = spawn(process.execPath, [main, ...args], {
    env: {
      ...{ PATH: process.env.PATH, HOME: emptyFolder(), LC_ALL: 'C.UTF-8', TMPDIR: tmpdir() },
      ...{ GVB_TEST_MARK: mark, GVB_SIM: cardIn(ownRegion('cli'), sim), ...environment },
    },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seen = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    seen.stdout += chunk;
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    seen.stderr += chunk;
  });
  if (TestRunner.getCurrentTest())
    onTestFailed(() => console.error(`${args.join(' ')}: exit code ${child.exitCode}, stderr:\n${seen.stderr}`));
  const done = new Promise<Outcome>((resolve) => child.once('close', (code) => resolve({ code, ...seen })));
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      // A command that measures for minutes would outlive the test.
      const limit = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`${args.join(' ')} did not say '${text}' within ${SAID_MS / 1_000} s: ${seen.stderr}`));
      }, SAID_MS);
      const look = () => {
        if (!seen.stderr.includes(text)) return;
        clearTimeout(limit);
        child.stderr?.off('data', look);
        resolve();
      };
      child.stderr?.on('data', look);
      child.once('close', () => {
        clearTimeout(limit);
        reject(new Error(`${args.join(' ')} ended without saying '${text}': ${seen.stderr}`));
      });
      look();
    });
  return { child, mark, said, done };
}

export const command = (args: readonly string[], environment?: NodeJS.ProcessEnv, sim?: string): Promise<Outcome> =>
  start(args, environment, sim).done;

/** Runs the command in a folder that several commands share. */
export const commandIn = (cwd: string, args: readonly string[], sim?: string): Promise<Outcome> =>
  start(args, {}, sim, cwd).done;

export const workersOf = (mark: string) =>
  processesOf(mark).filter(({ command: line }) => line.includes('worker/main'));

const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
const validators = new Map<string, ValidateFunction>();

/**
 * Validates a document against the shipped schema. Compiled on demand, because that takes a while and few files need
 * it.
 */
function checked(kind: 'run' | 'comparison', text: string): unknown {
  const schema = () => JSON.parse(readFileSync(join(root, `schema/${kind}-document.schema.json`), 'utf8'));
  const validate = validators.get(kind) ?? ajv.compile(schema());
  validators.set(kind, validate);
  if (text === '') throw new Error(`Expected a ${kind} document but the command printed none.`);
  const document: unknown = JSON.parse(text);
  if (!validate(document)) throw new Error(`Not a ${kind} document: ${ajv.errorsText(validate.errors)}`);
  return document;
}

export const parseDocument = (text: string) => checked('run', text) as RunDocument;

/** Warnings other than those about health, which depend on how busy the test machine is. */
export function warningsOf({ warnings, health }: RunDocument): string[] {
  const names = [...health.before, ...health.after].map(({ name }) => `${findingText(name)}: `);
  return warnings.filter((warning) => !names.some((name) => warning.startsWith(name)));
}

export const parseComparison = (text: string) => checked('comparison', text) as ComparisonDocument;
