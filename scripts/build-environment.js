// The environment of every native build. It uses the headers that came with the running Node, if they exist, so that
// node-gyp and cmake-js download nothing and an empty HOME works. It also sets the number of jobs, because
// make uses one processor by default.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';

const prefix = dirname(dirname(process.execPath));

/** Folder of Node's headers. */
export const nodeHeaders = `${prefix}/include/node`;

const jobs = String(availableParallelism());

/** Environment variables of a build; JOBS is for node-gyp. */
export const buildEnvironment = {
  JOBS: jobs,
  CMAKE_BUILD_PARALLEL_LEVEL: jobs,
  CTEST_PARALLEL_LEVEL: jobs,
  ...process.env,
  ...(existsSync(`${nodeHeaders}/node_api.h`) ? { npm_config_nodedir: prefix } : {}),
};
