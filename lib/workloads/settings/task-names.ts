/** The names of built-in aggressors in settings. */
import { MENU } from '../../metrics/isolation/shared/aggressor-menu.js';
import type { AggressorKind } from '../../native/addon-types.js';

/** Name of a task as keys of a file are written: `long-kernels`. */
export const taskName = (kind: AggressorKind): string => kind.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const tasks = new Map(MENU.map(({ kind }) => [taskName(kind), kind]));

export const taskNames: readonly string[] = [...tasks.keys()];

/** The task of a name, which must be one of `taskNames`. */
export const taskOf = (name: string): AggressorKind => tasks.get(name) as AggressorKind;
