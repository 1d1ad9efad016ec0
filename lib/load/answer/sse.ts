/** Server-sent events, as the HTML standard parses them (section 9.2.6, "Interpreting an event stream"). */
import { RequestFailure } from '../request-failure.js';

/**
 * Longest line in characters. No chunk of a model's answer comes near; a line without an end must not fill the memory.
 */
export const LONGEST_LINE = 2 ** 20;
const LONGEST_EVENT = 4 * LONGEST_LINE;

export interface SseEvent {
  kind: 'event';
  /** The name of the event; `message` where the stream names none. */
  type: string;
  /**
   * The data of the event. A named event without data has its comment here, in which NVIDIA Dynamo sends the text of an
   * error.
   */
  data: string;
}

/** A line that is no field of the standard, which ignores it. Some servers send errors in such lines. */
export interface StrayLine {
  kind: 'stray';
  line: string;
}

export class SseParser {
  /** Keeps the bytes of a character that is cut, and drops a byte order mark at the start. */
  readonly #decoder = new TextDecoder('utf-8');
  #line = '';
  #endedWithCr = false;
  #type = '';
  #comment = '';
  #data: string[] = [];
  #dataLength = 0;

  /** Takes bytes, however the stream is cut, and returns what is complete with them. Throws RequestFailure. */
  push(bytes: Uint8Array): (SseEvent | StrayLine)[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === '') return [];
    // The line ended with the CR of the bytes before.
    if (this.#endedWithCr && text.startsWith('\n')) text = text.slice(1);
    this.#endedWithCr = text.endsWith('\r');
    const lines = text.split(/\r\n|\r|\n/);
    const rest = lines.pop() ?? '';
    const found = lines.flatMap((line) => this.#endLine(line));
    this.#append(rest);
    return found;
  }

  /**
   * The incomplete event at the end of the stream, which the standard ignores; null where the stream ended between
   * events.
   */
  get rest(): string | null {
    if (this.#line === '' && this.#data.length === 0) return null;
    return [...this.#data, this.#line.replace(/^data: ?/, '')].join('\n').trim();
  }

  #append(text: string): void {
    this.#line += text;
    if (this.#line.length > LONGEST_LINE)
      throw new RequestFailure('line too long', `a line of the stream has more than ${LONGEST_LINE} characters`);
  }

  #endLine(text: string): (SseEvent | StrayLine)[] {
    this.#append(text);
    const line = this.#line;
    this.#line = '';
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#type = value;
    else if (field === 'data') this.#addData(value);
    else if (field === '') this.#comment = value;
    // `id` and `retry` are of no use to one request.
    else if (field !== 'id' && field !== 'retry') return [{ kind: 'stray', line }];
    return [];
  }

  #addData(value: string): void {
    this.#data.push(value);
    this.#dataLength += value.length + 1;
    if (this.#dataLength > LONGEST_EVENT)
      throw new RequestFailure('event too long', `an event of the stream has more than ${LONGEST_EVENT} characters`);
  }

  #dispatch(): SseEvent[] {
    const isNothing = this.#data.length === 0 && this.#type === '';
    const data = this.#data.length === 0 ? this.#comment : this.#data.join('\n');
    const event: SseEvent = { kind: 'event', type: this.#type || 'message', data };
    this.#type = '';
    this.#comment = '';
    this.#data = [];
    this.#dataLength = 0;
    return isNothing ? [] : [event];
  }
}
