/** Questions to a process that answers each by a line of JSON with its number. */

interface Waiting<Reply> {
  resolve: (reply: Reply) => void;
  reject: (error: Error) => void;
}

export class Questions<Reply extends { id: number }> {
  readonly #waiting = new Map<number, Waiting<Reply>>();
  readonly #send: (line: string) => void;
  #nextId = 0;

  constructor(send: (line: string) => void) {
    this.#send = send;
  }

  ask(question: object): Promise<Reply> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send(`${JSON.stringify({ id, ...question })}\n`);
    });
  }

  /** Takes a line that the process said. */
  answer(line: string): void {
    const reply = JSON.parse(line) as Reply;
    this.#waiting.get(reply.id)?.resolve(reply);
    this.#waiting.delete(reply.id);
  }

  /** Call when the process has ended: nothing is answered any more. */
  end(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
