import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../lib/systems/input/config.js';
import { parseSystem } from '../../lib/systems/input/parse.js';
import { libraryFile, temporaryFolder } from './systems/fixtures.js';

const folder = temporaryFolder();
const bin = join(folder, 'bin');
mkdirSync(bin);
for (const name of ['podman', 'docker', 'crun']) writeFileSync(join(bin, name), '', { mode: 0o755 });
const library = libraryFile(folder);
const bundle = join(folder, 'bundle');
mkdirSync(join(bundle, 'rootfs'), { recursive: true });
const here = { caller: { PATH: bin }, folder };
const parse = (text: string) => parseSystem(text, here);

describe('kind container', () => {
  it('is read from the command line and said again the same', () => {
    const text = `container:name=p,runtime=podman,runtimeOptions=--runtime=runc,image=localhost/x:1,gpu=devices,devices=/dev/nvidia0,devices=/dev/nvidiactl,mounts=${folder}:/data:rw,layer.kind=hami-core,layer.library=${library},layer.memory=10GiB`;
    const system = parse(text);
    expect(system).toMatchObject({ name: 'p', kind: 'container', unavailable: null, spec: text });
    expect(system.capabilities.memLimit).toBe('perTenantPool');
    expect(parse(system.spec as string).spec).toBe(text);
  });

  it('is read from a file', () => {
    const yaml = `systems:\n  - kind: container\n    runtime: crun\n    bundle: ${bundle}\n    layer: { kind: custom, env: { LD_PRELOAD: ${library} } }\n`;
    const [system] = parseConfig(yaml, 'a.yaml', here).systems;
    expect(system).toMatchObject({ name: 'container (unverified)', kind: 'container', unavailable: null });
  });

  it.each([
    ['runtime=nerdctl,image=x', 'nerdctl is not installed: install nerdctl, or give its path with runtime='],
    [
      'runtime=/nowhere/podman,image=x',
      'podman is not installed: install podman and runc, or give its path with runtime=',
    ],
    ['runtime=docker,image=x,layer.kind=hami-core,layer.library=/none.so', /no such file|not there|Expected/],
  ])('says of %s what is missing', (text, why) => {
    const unavailable = () => parse(`container:${text}`).unavailable;
    if (typeof why === 'string') expect(unavailable()).toBe(why);
    else expect(unavailable).toThrow(why);
  });

  it.each([
    ['image=x', 'Expected container to have runtime.'],
    ['runtime=podman', 'Expected container to have image.'],
    ['runtime=sh,image=x', /Expected runtime of container to be docker, podman/],
    ['runtime=./podman,image=x', /absolute path of one/],
    ['runtime=podman,image=--privileged', /Expected image of container to be the name or ID of an image/],
    ['runtime=podman,image=a b', /name or ID of an image/],
    ['runtime=podman,image=a\nb', /name or ID of an image/],
    [`runtime=podman,image=x,bundle=${bundle}`, 'Expected image with this runtime but received bundle.'],
    ['runtime=crun,image=x', 'Expected bundle with this runtime but received image.'],
    ['runtime=crun,bundle=bundle', /absolute path of a folder/],
    [`runtime=crun,bundle=${folder}`, /Expected bundle of container to be an OCI bundle .*ENOENT/],
    ['runtime=podman,image=x,args=privileged', /Expected args of container to be a list of options/],
    ['runtime=podman,image=x,args=--', /a list of options/],
    ['runtime=podman,image=x,runtimeOptions=run', /Expected runtimeOptions of container/],
    ['runtime=podman,image=x,mounts=/a\\,readonly=false', /Expected mounts of container to be absolute paths/],
    ['runtime=podman,image=x,mounts=relative', /absolute paths/],
    ['runtime=podman,image=x,mounts=/etc:/', /absolute paths/],
    ['runtime=podman,image=x,mounts=/etc:/../etc', /absolute paths/],
    ['runtime=podman,image=x,mounts=/etc:/etc:rx', /absolute paths/],
    ['runtime=podman,image=x,mounts=/nowhere-at-all', /to be what is there/],
    ['runtime=podman,image=x,gpu=devices', /Expected devices of container to be a list of device nodes/],
    ['runtime=podman,image=x,gpu=devices,devices=/etc/passwd', /device nodes below \/dev/],
    ['runtime=podman,image=x,gpu=devices,devices=/dev/../etc/passwd', /device nodes below \/dev/],
    ['runtime=podman,image=x,gpu=devices,devices=/dev/nvidia0:/dev/x:rwm', /device nodes below \/dev/],
    ['runtime=podman,image=x,devices=/dev/nvidia0', 'Expected devices only with gpu: devices.'],
    ['runtime=podman,image=x,device=--privileged', /a CDI device such as nvidia\.com\/gpu=0/],
    ['runtime=podman,image=x,gpu=hook,device=nvidia.com/gpu=0', 'Expected device only with gpu: cdi.'],
    ['runtime=podman,image=x,network=bridge', /network of container to be host or none/],
    [
      'runtime=podman,image=x,layer.kind=swap',
      /Expected layer of container to be a system of kind native.*made from outside/,
    ],
    ['runtime=podman,image=x,layer.kind=nothing', /nothing is known of that combination\.$/],
    ['runtime=podman,image=x,layer.kind=mps,ipc=private', /Expected ipc of container to be host with mps/],
    ['runtime=podman,image=x,layer.kind=container', /Expected layer of container/],
    ['runtime=podman,image=x,layer.kind=hami-core,layer.library=libvgpu.so', /absolute paths/],
    ['runtime=podman,image=x,layer.kind=native,layer.name=y', /name of container, not of its layer/],
    ['runtime=podman,image=x,layer.kind=hami-core,layer.memry=1GiB', /did you mean memory/],
  ])('refuses %j', (text, message) => expect(() => parse(`container:${text}`)).toThrow(message));

  it('refuses a bundle whose configuration has no root', () => {
    const wrong = join(folder, 'wrong');
    mkdirSync(wrong);
    writeFileSync(join(wrong, 'config.json'), '{"process":{}}');
    expect(() => parse(`container:runtime=crun,bundle=${wrong}`)).toThrow(/no root\.path and process/);
    writeFileSync(join(wrong, 'config.json'), 'null');
    expect(() => parse(`container:runtime=crun,bundle=${wrong}`)).toThrow(/no root\.path and process/);
  });
});
