/** Reads a call profile from a file, which is not trusted. */
import { open } from 'node:fs/promises';
import * as v from 'valibot';
import { messageOf } from '../errors/message-of.js';
import { whyUnreadable } from '../errors/unreadable.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { boundedJson, JsonBoundsError } from './bounded-json.js';
import { type CallProfile, callProfileSchema, PROFILE_VERSION } from './call-profile.js';
import { firstTwice } from './first-twice.js';
import { issueText } from './issue-text.js';

/** A phase with a thousand functions takes 40 kB. */
const MAX_MIB = 16;

/** Throws UsageError, which names the file and the problem. */
export async function readProfile(file: string): Promise<CallProfile> {
  const refused = (why: string) => new UsageError(`Expected a call profile but received ${quoted(file)}: ${why}.`);
  const found = parsed(await contentOf(file, refused), refused);
  const head = v.safeParse(v.object({ kind: v.literal('call profile'), schemaVersion: v.number() }), found);
  if (!head.success) throw refused('it is none, as gpu-virt-bench profile writes it');
  if (head.output.schemaVersion > PROFILE_VERSION)
    throw refused(
      `it is of version ${head.output.schemaVersion} and this gpu-virt-bench reads ${PROFILE_VERSION}: use the version that wrote it, or a newer one`,
    );
  const read = v.safeParse(callProfileSchema, found, { abortEarly: true });
  if (!read.success) {
    throw refused(issueText(read.issues[0]));
  }
  const names = read.output.phases.map(({ name }) => name);
  const twice = firstTwice(names);
  if (twice !== null) throw refused(`two of its phases are named ${quoted(twice)}`);
  return read.output;
}

type Refuse = (why: string) => UsageError;

async function contentOf(file: string, refused: Refuse): Promise<string> {
  const handle = await open(file).catch((error: unknown) => {
    throw refused(whyUnreadable(error));
  });
  try {
    const found = await handle.stat();
    // Reading a device may never end.
    if (!found.isFile()) throw refused('it is not a regular file');
    if (found.size > MAX_MIB * 2 ** 20)
      throw refused(`it has ${Math.round(found.size / 2 ** 20)} MiB, and ${MAX_MIB} at most are read`);
    return await handle.readFile('utf8').catch((error: unknown) => {
      throw refused(messageOf(error));
    });
  } finally {
    await handle.close();
  }
}

function parsed(text: string, refused: Refuse): unknown {
  try {
    return boundedJson(text);
  } catch (error) {
    if (error instanceof JsonBoundsError) throw refused(error.message);
    // Leaves out the parser's message, which quotes the file's contents.
    throw refused(text.trim() === '' ? 'it is empty' : 'it is not whole JSON, perhaps it was cut off');
  }
}
