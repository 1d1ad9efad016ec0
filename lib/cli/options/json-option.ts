/** `--json [FILE]` of commands that show facts instead of results: standard output if no file is named. */
import { checkTarget, STDOUT, writeStdout, writeWhole } from '../files/output.js';

export interface RawJson {
  /** True without a file. */
  json?: string | true;
}

export const JSON_OPTION = '--json [file]';

const targetOf = (json: string | true): string => (json === true ? STDOUT : json);

/** Refuses a file that could not be written before anything is looked at. */
export async function checkJson(json: RawJson['json']): Promise<void> {
  if (json !== undefined) await checkTarget(targetOf(json), '--json');
}

export async function writeJson(json: string | true, value: unknown): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  const target = targetOf(json);
  await (target === STDOUT ? writeStdout(text) : writeWhole(target, text));
}
