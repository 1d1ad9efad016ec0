/** Messages that are one message to a reader: a process that dies at start prints its own PID, time and addresses. */

/** What comes after it is the output of another program, in which any number may be of that process alone. */
const QUOTED_OUTPUT = 'It last printed: ';

/** Equal for messages that differ in a PID, in an address, or in a number of quoted output. */
export function messageKey(message: string): string {
  const at = message.indexOf(QUOTED_OUTPUT);
  const own = at < 0 ? message : message.slice(0, at);
  const quoted = at < 0 ? '' : message.slice(at).replace(/0x[0-9a-f]+|\d+/gi, 'N');
  return own.replace(/0x[0-9a-f]+/gi, 'N').replace(/\b(PID|TID|process|thread)([\s:=#]+)\d+/gi, '$1$2N') + quoted;
}

/** The first of each. */
export function differentMessages(messages: readonly string[]): string[] {
  const first = new Map<string, string>();
  for (const message of messages) if (!first.has(messageKey(message))) first.set(messageKey(message), message);
  return [...first.values()];
}
