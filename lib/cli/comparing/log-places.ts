/** The folders of a results directory that keep the output of programs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LOGS, roundName } from '../files/result-directory.js';
import type { Comparing } from './comparing-task.js';

/** Where the logs of runs go: a folder for every round of a system, and a new one if a round is measured again. */
export class LogPlaces {
  #directory: string | null = null;
  #round = '';

  in(directory: string): void {
    this.#directory = directory;
  }

  at(...[round, index, stage]: Parameters<NonNullable<Comparing['onRound']>>): void {
    const name = roundName(round, index, stage);
    this.#round = name;
    for (let time = 2; this.#directory !== null && existsSync(this.#path()); time++) this.#round = `${name}-${time}`;
  }

  of(workload: string): string {
    return join(this.#path(), workload);
  }

  #path(): string {
    return join(this.#directory ?? '', LOGS, this.#round);
  }
}
