/**
 * A delivery as lines of text among others, for nodes whose only way out is a log: numbered base64 with a checksum. Logs
 * put names and times before a line, and mix the lines of several processes.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type FleetDelivery, DELIVERY_VERSION, deliverySchema, sealOf } from './delivery.js';
import { UnreadableError } from '../saved/regular-file.js';
import { ofKind, parsed } from './json-file.js';

/** Container runtimes split lines of more than 16 KiB. */
const LINE_BYTES = 3_000;
/** A document of all metrics without samples has 3 MB. */
const MOST_BYTES = 64 * 2 ** 20;
const MOST_AT_ONCE = 10_000;

const MARK = 'gvb-delivery-1';
const pattern = new RegExp(`${MARK} ([0-9a-f]{16}) (begin|end|\\d{1,8})(?: (\\S+))?(?: ([0-9a-f]{64}))?\\s*$`);

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The lines of a delivery; `document` is the compressed one, null if there is none. */
export function framed(delivery: FleetDelivery, document: Buffer | null): string[] {
  const payload = Buffer.concat([Buffer.from(`${JSON.stringify(delivery)}\n`), document ?? Buffer.alloc(0)]);
  const id = randomBytes(8).toString('hex');
  const lines = [`${MARK} ${id} begin ${payload.length} ${sha256(payload)}`];
  for (let at = 0; at < payload.length; at += LINE_BYTES)
    lines.push(`${MARK} ${id} ${lines.length - 1} ${payload.toString('base64', at, at + LINE_BYTES)}`);
  return [...lines, `${MARK} ${id} end`];
}

interface Unframed {
  delivery: FleetDelivery;
  document: Buffer | null;
}

interface Begun {
  bytes: number;
  sha256: string;
  pieces: Buffer[];
}

/** Takes lines of a log one by one; only the deliveries that have begun are in memory. */
export class FrameReader {
  readonly #begun = new Map<string, Begun>();

  /** A delivery that this line completes; null for any other line. Throws UnreadableError for one that is damaged. */
  push(line: string): Unframed | null {
    const [, id, what, text = '', sum] = pattern.exec(line) ?? [];
    if (id === undefined || what === undefined) return null;
    if (what === 'begin') this.#begin(id, Number(text), sum);
    else if (what === 'end') return this.#end(id);
    else this.#take(id, Number(what), text);
    return null;
  }

  /** How many deliveries began and did not end. */
  get unfinished(): number {
    return this.#begun.size;
  }

  #begin(id: string, bytes: number, sum: string | undefined): void {
    if (!(bytes > 0 && bytes <= MOST_BYTES) || sum === undefined)
      throw new UnreadableError(`a delivery has ${bytes} bytes, and 1 to ${MOST_BYTES} are read`);
    if (this.#begun.size >= MOST_AT_ONCE)
      throw new UnreadableError(`more than ${MOST_AT_ONCE} deliveries begin and do not end`);
    this.#begun.set(id, { bytes, sha256: sum, pieces: [] });
  }

  #take(id: string, number: number, text: string): void {
    const begun = this.#begun.get(id);
    if (begun === undefined) return;
    // A line that came twice, or is missing, shows in the checksum.
    if (number !== begun.pieces.length || number * LINE_BYTES > begun.bytes) return;
    begun.pieces.push(Buffer.from(text, 'base64'));
  }

  #end(id: string): Unframed | null {
    const begun = this.#begun.get(id);
    if (begun === undefined) return null;
    this.#begun.delete(id);
    const payload = Buffer.concat(begun.pieces);
    if (payload.length !== begun.bytes || sha256(payload) !== begun.sha256)
      throw new UnreadableError('a delivery is damaged: lines of it are missing or changed');
    const split = payload.indexOf('\n');
    const delivery = ofKind(parsed(payload.toString('utf8', 0, split)), {
      kind: 'fleet-delivery',
      version: DELIVERY_VERSION,
      schema: deliverySchema,
    });
    const document = payload.subarray(split + 1);
    if (delivery.document === null) return { delivery, document: null };
    if (sealOf(document).sha256 !== delivery.document.sha256)
      throw new UnreadableError('a delivery is damaged: its document has another checksum');
    return { delivery, document };
  }
}
