/** A system that cannot be made active here: its proof fails before a process of it has started. */
export class NotActive extends Error {
  constructor(reason: string) {
    // Reasons of failed proofs begin with the same words.
    super(`layer not active: ${reason}`);
    this.name = 'NotActive';
  }
}
