// Node of other versions and architectures, from the npm packages that contain nothing but its binary.
import { join } from 'node:path';
import { run } from './packed.js';

/** Puts the newest Node of `version`, such as `22` or `20.17.0`, into `folder` and returns its path. */
export function otherNode(version, architecture, folder) {
  const name = `node-linux-${architecture}@${version}`;
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder, name], folder));
  // npm would also write documentation and headers, which take longer.
  const own = join(folder, filename.replace(/\.tgz$/, ''));
  run('mkdir', ['-p', own], folder);
  run('tar', ['-xzf', filename, '-C', own, 'package/bin/node'], folder);
  return join(own, 'package/bin/node');
}
