/** The witness of a program in a pod: it is loaded and read there, because nothing of a pod can be seen from outside. */
import { join } from 'node:path';
import * as v from 'valibot';
import { packageRoot } from '../../package-root.js';
import { whyNotPreloaded } from '../../systems/process/loader-path.js';
import type { Launcher } from '../../workers/launcher.js';
import type { SeenProcess } from './seen-process.js';
import type { Witness } from './witness.js';

const program = join(packageRoot, 'dist/workloads/proof/witness-inside.js');

const text = v.string();
const begunSchema = v.object({ library: v.nullable(text), folder: v.nullable(text), preload: text });
/** What the program itself could have written. */
const seenSchema = v.object({
  processes: v.array(
    v.looseObject({ pid: v.number(), name: text, files: v.array(text), isElsewhere: v.literal(false) }),
  ),
  unread: v.number(),
  failed: v.nullable(text),
  hooking: v.array(text),
});

function parsed<Schema extends v.GenericSchema>(schema: Schema, printed: string | null): v.InferOutput<Schema> | null {
  try {
    const found = v.safeParse(schema, JSON.parse(printed ?? ''));
    return found.success ? found.output : null;
  } catch {
    return null;
  }
}

const failing = (why: string): Witness => ({
  variables: (environment) => environment,
  seen: () => Promise.resolve({ processes: [], unread: 0, hooking: [], failed: why }),
  remove: () => Promise.resolve(),
});

/** `environment` names the pod. Never rejects: what fails is said in the proof. */
export async function witnessBeside(
  run: NonNullable<Launcher['runBeside']>,
  environment: NodeJS.ProcessEnv,
): Promise<Witness> {
  const ask = (...words: string[]) => run(program, words, { environment });
  const begun = parsed(begunSchema, await ask('begin'));
  if (!begun) return failing('no file can be written in the pod, or its package is another version');
  const { library, folder, preload } = begun;
  if (library === null || folder === null) return failing('libgvb-witness.so is not in the image');
  const why = whyNotPreloaded(library);
  if (why !== null) return failing(why);
  let isOver = false;
  const end = () => {
    isOver = true;
    return ask('end', folder);
  };
  return {
    // Behind a layer, which must meet the program first.
    variables: (given) => ({
      ...given,
      LD_PRELOAD: [given.LD_PRELOAD ?? preload, library].filter(Boolean).join(':'),
      GVB_WITNESS: folder,
    }),
    seen: async () => {
      const seen = parsed(seenSchema, await end());
      if (!seen)
        return { processes: [], unread: 0, hooking: [], failed: 'the records of its processes could not be read' };
      return { ...seen, processes: seen.processes as unknown as SeenProcess[] };
    },
    remove: async () => {
      if (!isOver) await end();
    },
  };
}
