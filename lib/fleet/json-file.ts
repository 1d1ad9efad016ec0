/** Reads the JSON files of a fleet's folder, into which many nodes write: none of them is trusted. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import * as v from 'valibot';
import { whyUnreadable } from '../errors/unreadable.js';
import { boundedJson, JsonBoundsError } from '../results/bounded-json.js';
import { issueText } from '../results/issue-text.js';
import { readWhole } from '../saved/whole-file.js';

/** `why` continues a sentence about the file. */
export class UnreadableError extends Error {
  constructor(
    readonly why: string,
    readonly isMissing = false,
  ) {
    super(why);
    this.name = 'UnreadableError';
  }
}

/** The bytes of a regular file that is no link; throws UnreadableError. */
export async function bytesOf(file: string, mostBytes: number): Promise<Buffer> {
  let handle: FileHandle;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for its writer.
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP') throw new UnreadableError('it is a symbolic link, which could lead anywhere');
    throw new UnreadableError(whyUnreadable(error), code === 'ENOENT' || code === 'ENOTDIR');
  }
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new UnreadableError('it is not a regular file');
    if (found.size > mostBytes)
      throw new UnreadableError(`it has ${found.size} bytes, and ${mostBytes} at most are read`);
    return await readWhole(handle, found.size);
  } catch (error) {
    throw error instanceof UnreadableError ? error : new UnreadableError(whyUnreadable(error));
  } finally {
    await handle.close();
  }
}

/** Throws UnreadableError. */
export function parsed(text: string): unknown {
  try {
    return boundedJson(text);
  } catch (error) {
    if (error instanceof JsonBoundsError) throw new UnreadableError(error.message);
    // Leaves out the parser's message, which quotes the file's contents.
    throw new UnreadableError(text.trim() === '' ? 'it is empty' : 'it is not complete JSON; it may have been cut off');
  }
}

interface Kind<Schema> {
  kind: string;
  /** The newest version that is read. */
  version: number;
  schema: Schema;
}

/** The content of a file of that kind; a text says why it cannot be read, null that there is no file. */
export async function jsonIn<Schema extends v.GenericSchema>(
  file: string,
  { mostBytes, ...kind }: Kind<Schema> & { mostBytes: number },
): Promise<{ value: v.InferOutput<Schema> } | string | null> {
  try {
    return { value: ofKind(parsed((await bytesOf(file, mostBytes)).toString('utf8')), kind) };
  } catch (error) {
    if (error instanceof UnreadableError) return error.isMissing ? null : error.why;
    throw error;
  }
}

/** Throws UnreadableError. */
export function ofKind<Schema extends v.GenericSchema>(
  value: unknown,
  { kind, version, schema }: Kind<Schema>,
): v.InferOutput<Schema> {
  const head = v.safeParse(v.object({ kind: v.literal(kind), schemaVersion: v.number() }), value);
  if (!head.success) throw new UnreadableError(`it is no ${kind}, as gpu-virt-bench fleet writes it`);
  if (head.output.schemaVersion > version)
    throw new UnreadableError(
      `it is of version ${head.output.schemaVersion} and this gpu-virt-bench reads ${version}: use the version that wrote it, or a newer one`,
    );
  const read = v.safeParse(schema, value, { abortEarly: true });
  if (read.success) return read.output;
  throw new UnreadableError(issueText(read.issues[0]));
}
