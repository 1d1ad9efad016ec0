// What every build of the native parts runs with: the headers that came with the running Node, where they are there, so
// that node-gyp, prebuildify and cmake-js download nothing and an empty HOME works; and all processors, which make takes
// only when told.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';

const prefix = dirname(dirname(process.execPath));

/** Where the headers are. */
export const nodeHeaders = `${prefix}/include/node`;

const jobs = String(availableParallelism());

/** The environment of a build; JOBS is node-gyp's, for prebuildify too. */
export const buildEnvironment = {
  JOBS: jobs,
  CMAKE_BUILD_PARALLEL_LEVEL: jobs,
  ...process.env,
  ...(existsSync(`${nodeHeaders}/node_api.h`) ? { npm_config_nodedir: prefix } : {}),
};
