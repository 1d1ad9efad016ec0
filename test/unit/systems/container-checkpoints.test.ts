import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  checkpointRefusal,
  criuRefusal,
  pluginFolder,
  pluginRefusal,
  podmanRefusal,
} from '../../../lib/systems/kinds/container/container-checkpoints.js';
import { temporaryFolder } from '../../temporary.js';

describe('what checkpoints of containers need', () => {
  it.each(['docker', 'nerdctl', 'oci'])('is podman, not %s', async (kind) => {
    const ask = () => Promise.reject(new Error('It was asked.'));
    expect(await checkpointRefusal({ runtime: { name: 'it', kind }, ask, environment: {} })).toBe(
      'exec checkpoints containers of podman only, and the runtime is it: use runtime: podman',
    );
  });

  it.each([
    ['false false runc runc version 1.1.5\ncommit: x', null],
    ['false false crun crun version 1.8\n+SYSTEMD +SECCOMP +CRIU +YAJL', null],
    ['false false crun crun version 1.8\n+SYSTEMD +SECCOMP +YAJL', /^crun was built without CRIU: install runc/],
    ['true false crun crun version 1.8', /rootless: run exec as root$/],
    ['false true runc runc version 1.1.5', /^podman is a client of another machine/],
  ])('is a podman of root with a runtime that can: %j', (info, reason) => {
    const said = podmanRefusal(info);
    if (reason === null) expect(said).toBeNull();
    else expect(said).toMatch(reason);
  });

  it.each([
    [null, /^podman container checkpoint needs CRIU 4 or later, and no criu is in PATH: Debian 13/],
    ['Version: 3.17.1\n', /and the criu in PATH is 3\.17\.1: /],
    ['what?', /does not say its version/],
    ['Version: 4.0\nGitID: v4.0', null],
    ['Version: 4.2-rc1\n', null],
    ['Version: 10.1\n', null],
  ])('is CRIU 4 or later: %j', (version, reason) => {
    const said = criuRefusal(version);
    if (reason === null) expect(said).toBeNull();
    else expect(said).toMatch(reason);
  });

  it('is for GPU state the plugin for CUDA, and the program that it runs', () => {
    const folder = temporaryFolder('criu');
    expect(pluginRefusal(folder, true)).toContain(`cuda_plugin.so is not in ${folder}: install it there`);
    expect(pluginRefusal(null, true)).toContain('cuda_plugin.so is not in its folder');
    writeFileSync(join(folder, 'cuda_plugin.so'), '');
    expect(pluginRefusal(folder, false)).toContain('no cuda-checkpoint in PATH');
    expect(pluginRefusal(folder, true)).toBeNull();
  });

  it('is looked for where CRIU looks: in the folder of its configuration, else as its help says', () => {
    const help = '  -L|--libdir           path to a plugin directory (by default /usr/lib/criu/)\n';
    const file = join(temporaryFolder('criu'), 'runc.conf');
    expect(pluginFolder(help, [file])).toBe('/usr/lib/criu');
    writeFileSync(file, 'tcp-established\n# libdir /not/this\nlibdir /opt/criu # ours\n');
    expect(pluginFolder(help, [file])).toBe('/opt/criu');
    expect(pluginFolder('', [])).toBeNull();
  });
});
