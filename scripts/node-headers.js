// The headers that came with the running Node, where they are there: node-gyp, prebuildify and cmake-js then download
// nothing, and an empty HOME works.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

const prefix = dirname(dirname(process.execPath));

/** The environment of a build. */
export const buildEnvironment = existsSync(`${prefix}/include/node/node_api.h`)
  ? { ...process.env, npm_config_nodedir: prefix }
  : process.env;
