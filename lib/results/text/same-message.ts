/** Recognises equal messages: a process that dies at start prints its own PID, time and addresses. */

/** Precedes the output of another program, in which any number may be specific to one process. */
const QUOTED_OUTPUT = 'It last printed: ';

/** The same key for messages that differ only in a PID, an address, or a number in quoted output. */
export function messageKey(message: string): string {
  const at = message.indexOf(QUOTED_OUTPUT);
  const own = at < 0 ? message : message.slice(0, at);
  const quoted = at < 0 ? '' : message.slice(at).replace(/0x[0-9a-f]+|\d+/gi, 'N');
  return own.replace(/0x[0-9a-f]+/gi, 'N').replace(/\b(PID|TID|process|thread)([\s:=#]+)\d+/gi, '$1$2N') + quoted;
}

/** Keeps the first message of each key. */
export function differentMessages(messages: readonly string[]): string[] {
  const first = new Map<string, string>();
  for (const message of messages) if (!first.has(messageKey(message))) first.set(messageKey(message), message);
  return [...first.values()];
}
