/**
 * What nvshare's scheduler is told and asked, on its socket. Layout: `struct message` in src/comm.h of grgalex/nvshare
 * 1a8f211, packed.
 */
import { connect } from 'node:net';

const TYPES = { register: 1, turnsOn: 2, turnsOff: 3, setQuantum: 8 } as const;
const NAME_BYTES = 254;
const ID_BYTES = 8;
const DATA_BYTES = 20;
const DATA_AT = 1 + 2 * NAME_BYTES + ID_BYTES;

export const MESSAGE_BYTES = DATA_AT + DATA_BYTES;

export interface Turns {
  isOn: boolean;
  quantumSeconds: number;
}

export function message(type: keyof typeof TYPES, data = ''): Buffer {
  const bytes = Buffer.alloc(MESSAGE_BYTES);
  bytes.writeUInt8(TYPES[type], 0);
  bytes.write(data, DATA_AT, DATA_BYTES - 1);
  return bytes;
}

/**
 * Sets the turns, if any are given, and asks whether they are on: the scheduler tells that to whoever registers. It does
 * not tell how long a turn is. Rejects if nobody answers, resolves with null if the answer is none that is known.
 */
export function askScheduler(socket: string, timeoutMs: number, turns?: Turns): Promise<boolean | null> {
  const given = turns
    ? [message('setQuantum', `${turns.quantumSeconds}`), message(turns.isOn ? 'turnsOn' : 'turnsOff')]
    : [];
  const client = connect(socket);
  const answer = new Promise<boolean | null>((resolve, reject) => {
    client.setTimeout(timeoutMs, () => reject(new Error(`no answer within ${timeoutMs / 1_000} s`)));
    client.once('error', reject);
    client.once('close', () => reject(new Error('it closed the connection')));
    let bytes = Buffer.alloc(0);
    client.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.length >= MESSAGE_BYTES) resolve(isOn(bytes.readUInt8(0)));
    });
  });
  client.write(Buffer.concat([...given, message('register')]));
  return answer.finally(() => client.destroy());
}

const isOn = (type: number): boolean | null => (type === TYPES.turnsOn ? true : type === TYPES.turnsOff ? false : null);
