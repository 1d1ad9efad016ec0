/** `gpu-virt-bench load URL` */
import { join } from 'node:path';
import { Place, SettingError } from '../../config/setting-place.js';
import type { RawMap } from '../../config/raw.js';
import { keysOf } from '../../config/read.js';
import { quoted, UsageError } from '../../errors/usage-error.js';
import { loadSettings, readLoad } from '../../load/load-config.js';
import type { LoadPlan } from '../../load/load-plan.js';
import { runReport } from '../../report/formats/terminal.js';
import { plain } from '../../results/text/plain.js';
import { counted } from '../../results/text/quantity.js';
import { NATIVE } from '../../workloads/proof/running-server.js';
import { loadServer } from '../../workloads/round/loaded-server.js';
import { publicUrl } from '../../workloads/settings/secrets.js';
import { checkOutputs, parseOutputs, publish, type RawOutputs } from '../options/document-outputs.js';
import { interruptible } from '../process/interruption.js';
import { failureOf } from '../files/output.js';
import { progressDisplay } from '../terminal/progress.js';
import { exitCodeOfResults, unwrittenCodes } from '../options/result-codes.js';
import { LOGS, openDirectory } from '../files/result-directory.js';
import { say, sayUnwritten, warn } from '../terminal/talk.js';

/** The options of a load, by their keys in YAML. */
const FLAGS = {
  api: '--api',
  method: '--method',
  headers: '--header',
  body: '--body',
  model: '--model',
  prompt: '--prompt',
  maxTokens: '--max-tokens',
  requests: '--requests',
  concurrency: '--concurrency',
  ratePerSecond: '--rate-per-second',
  seed: '--seed',
  warmup: '--warmup',
  timeout: '--timeout',
  url: 'the URL',
} as const satisfies Record<keyof typeof loadSettings.entries, string>;

type LoadOption = Exclude<keyof typeof FLAGS, 'url' | 'headers'>;

export interface RawLoadOptions extends RawOutputs, Partial<Record<LoadOption, string>> {
  header?: string[];
  name: string;
  under: string;
  layer?: string;
  mps: boolean;
  container: boolean;
  pid?: string;
  simulate: boolean;
  output?: string;
}

export async function load(url: string, raw: RawLoadOptions): Promise<number> {
  const plan = parseLoad(url, raw);
  const outputs = parseOutputs(raw);
  const name = checkedName('--name', raw.name, /^[A-Za-z0-9][\w.+-]{0,39}$/, 'letters, digits and . _ + -');
  const system = checkedName(
    '--under',
    raw.under,
    /^[A-Za-z0-9][\w .+-]{0,39}$/,
    'letters, digits, spaces and . _ + -',
  );
  const { mps, container, simulate } = raw;
  const claim = { system, layer: raw.layer ?? null, mps, container, pid: checkedPid(raw.pid), simulate };
  if (system === NATIVE && (mps || container || raw.layer !== undefined))
    throw new UsageError('Expected --under native without --layer, --mps and --container: native is without them.');
  await checkOutputs(outputs);
  const directory = raw.output === undefined ? null : await openDirectory(raw, []);
  const progress = progressDisplay();
  try {
    say(plain(`Plan: ${planText(plan)}`));
    progress.doing('warm-up requests');
    let answered = 0;
    const onRequest = () => progress.doing(`${++answered} of ${plan.requests} requests`);
    const requests = directory && join(directory.path, LOGS, 'requests.jsonl');
    const document = await interruptible((signal) => loadServer({ ...claim, name, plan, requests, signal }, onRequest));
    progress.stop();
    process.exitCode = exitCodeOfResults(document);
    const kept = directory && (await failureOf(directory.keepRound(0, 0, document, '')));
    const unwritten = [...(kept ? [kept] : []), ...((await directory?.finish(document)) ?? [])];
    unwritten.push(...(await publish(document, outputs, runReport(document))));
    document.warnings.forEach(warn);
    unwritten.push(...((await directory?.keepTranscript()) ?? []));
    sayUnwritten(unwritten);
    return exitCodeOfResults(document, unwrittenCodes(unwritten));
  } finally {
    progress.stop();
    await directory?.close();
  }
}

/** The same settings as in YAML, with messages that name the options. */
export function parseLoad(url: string, raw: Partial<RawLoadOptions>): LoadPlan {
  const settings: RawMap = { url };
  for (const key of keysOf(loadSettings)) {
    // That has a default, which a rate replaces.
    const isReplaced = key === 'concurrency' && raw.ratePerSecond !== undefined;
    if (key !== 'url' && key !== 'headers' && raw[key] !== undefined && !isReplaced) settings[key] = raw[key];
  }
  if (raw.header) settings.headers = headersOf(raw.header);
  try {
    return readLoad(new Place(settings, 'the load'));
  } catch (error) {
    throw error instanceof SettingError ? new UsageError(named(error.message)) : error;
  }
}

function named(message: string): string {
  let text = message;
  for (const [key, flag] of Object.entries(FLAGS))
    text = text
      .replaceAll(`${key} of the load`, flag)
      .replace(`Expected the load to have ${key}.`, `Expected ${flag}, but it was not given.`);
  return text
    .replace(/\b(?:ratePerSecond|maxTokens)\b/g, (key) => FLAGS[key as 'maxTokens'])
    .replace(/\bapi: (?=\w)/g, `${FLAGS.api} `)
    .replace(/\b(?<=or |both: |leave )body\b/g, FLAGS.body)
    .replace('authorization in headers', `authorization in ${FLAGS.headers}`);
}

function headersOf(texts: readonly string[]): RawMap {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([^:]+):\s*(.*)$/s.exec(text) ?? [];
      // The text may be a secret.
      if (name === undefined || value === undefined)
        throw new UsageError("Expected --header to be 'NAME: VALUE' but received a text without a colon.");
      return [name.trim(), value];
    }),
  );
}

function checkedPid(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new UsageError(`Expected --pid to be the number of a process but received ${quoted(text)}.`);
}

function checkedName(option: string, text: string, allowed: RegExp, what: string): string {
  if (allowed.test(text)) return text;
  throw new UsageError(`Expected ${option} to be up to 40 ${what} but received ${quoted(text)}.`);
}

function planText({ url, api, requests, warmup, arrivals, timeoutMs }: LoadPlan): string {
  const how =
    arrivals.loop === 'closed'
      ? `${arrivals.concurrency} at a time`
      : `${arrivals.ratePerSecond} per second at random times (seed ${arrivals.seed})`;
  return `${counted(requests, 'request')} to ${publicUrl(url.href)} (api ${api}), ${how}, after ${warmup} for warm-up, each of at most ${timeoutMs / 1_000} s`;
}
