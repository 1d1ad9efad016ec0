/** A program of the user that takes turns on the card, with all that it starts (rotation.ts). */
import { livingBelow } from '../environment/process-tree.js';
import type { KeptProgram } from '../workers/kept-program.js';
import { GuardedProgram, outlives, type ProgramEnding } from './guarded-program.js';
import type { Turns } from './rotating-launcher.js';
import type { Rotation, Tree } from './rotation.js';

export class RotatingProgram implements ProgramEnding {
  readonly #rotation: Rotation;
  readonly #tenant: string;
  readonly #guarded: GuardedProgram;
  #tree: Tree | null = null;
  #ending: Promise<void> | null = null;
  #kills = false;

  constructor({ rotation, guardian, gpu }: Turns, tenant: string) {
    [this.#rotation, this.#tenant] = [rotation, tenant];
    this.#guarded = new GuardedProgram(guardian, gpu);
  }

  get left(): string | null {
    return this.#guarded.left;
  }

  get kills(): boolean {
    return this.#kills;
  }

  /** Takes in a program that waits; its first turn begins it. */
  enter(program: KeptProgram): void {
    const { keeperPid } = program;
    if (keeperPid === null) return;
    const tree: Tree = {
      tenant: this.#tenant,
      processes: () => livingBelow(keeperPid),
      begin: () => program.begin(),
      noteRestore: (pids) => this.#guarded.noteRestore(program, pids),
      end: () => void this.end(program),
    };
    this.#tree = tree;
    this.#rotation.enter(tree);
    void program.done.then(() => this.#rotation.left(tree));
  }

  /** No switch begins or goes on while it is ended. */
  end(program: KeptProgram): Promise<void> {
    const tree = this.#tree;
    if (tree === null) return Promise.resolve();
    return (this.#ending ??= this.#rotation.leave(tree, (isOn) => this.#end(program, isOn)));
  }

  async endStragglers(program: KeptProgram): Promise<void> {
    if (await outlives(program)) await this.end(program);
  }

  /** One that was never restored ends as any other, but does not obey while it is stopped or checkpointed. */
  async #end(program: KeptProgram, isOn: boolean): Promise<void> {
    this.#kills = this.#guarded.isGuarded || !isOn;
    if (this.#guarded.isGuarded) return this.#guarded.end(program);
    if (!program.hasBegun) program.cancel();
    else if (isOn) program.stop();
    else program.kill();
    await program.done;
  }
}
