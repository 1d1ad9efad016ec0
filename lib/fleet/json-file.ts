/** Reads the JSON files of a fleet's folder, into which many nodes write: none of them is trusted. */
import * as v from 'valibot';
import { boundedJson, JsonBoundsError } from '../results/bounded-json.js';
import { issueText } from '../results/issue-text.js';
import { bytesOf, UnreadableError } from '../saved/regular-file.js';

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
