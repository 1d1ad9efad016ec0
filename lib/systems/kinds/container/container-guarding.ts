/** The process that removes the containers of a run when the run ends, however it ends (container-guardian.ts). */
import { join } from 'node:path';
import { packageRoot } from '../../../package-root.js';
import type { Keeping, Kept } from '../../../workers/container/container-program.js';
import type { Runtime } from '../../../workers/container/container-type.js';
import { CleanUpGuardian } from '../../process/clean-up-guardian.js';

const program = join(packageRoot, 'dist/systems/kinds/container/container-guardian.js');

export interface KeepingRequest {
  id: number;
  what: 'checkpoint' | 'restore' | 'remove';
  /** Name of the container. */
  name: string;
}

export interface KeepingReply extends Kept {
  id: number;
}

export class Guardian extends CleanUpGuardian<KeepingReply> implements Keeping {
  /** `prefix`: how the names of the containers begin. */
  constructor(runtime: Runtime, prefix: string, environment: Record<string, string>) {
    const argv = [prefix, runtime.kind, runtime.program, ...runtime.options];
    super({ program, argv, environment, what: 'containers' });
  }

  /** Records mount points to remove after the containers. */
  noteMountPoints(paths: readonly string[]): void {
    this.note(JSON.stringify(paths));
  }

  checkpoint(name: string): Promise<Kept> {
    return this.ask({ what: 'checkpoint', name });
  }

  restore(name: string): Promise<Kept> {
    return this.ask({ what: 'restore', name });
  }

  remove(name: string): Promise<Kept> {
    return this.ask({ what: 'remove', name });
  }
}
