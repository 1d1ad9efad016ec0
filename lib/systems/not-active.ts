/** A system that cannot be made active here: its proof fails before a process of it has started. */
export class NotActive extends Error {
  constructor(reason: string) {
    // As results of a failed proof begin.
    super(`layer not active: ${reason}`);
    this.name = 'NotActive';
  }
}
