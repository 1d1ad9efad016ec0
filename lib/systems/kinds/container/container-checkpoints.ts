/** Whether containers can be checkpointed here: by podman, with CRIU and for GPU state its plugin for CUDA. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_UTILITY, UTILITY } from '../../../checkpoint/utility-name.js';
import type { Ask } from '../../../workers/container/container.js';
import { inPath } from '../../input/in-path.js';
import { runCommand } from '../../process/command.js';

const PLUGIN = 'cuda_plugin.so';
const FIRST_MAJOR = 4;
const WHERE =
  'Debian 13 and Fedora 41 have it as criu, Debian 12 has 3.17; else build it from github.com/checkpoint-restore/criu';

interface Surroundings {
  /** Its name in the settings, and its kind. */
  runtime: { name: string; kind: string };
  ask: Ask;
  /** Environment of the runtime's client, where CRIU looks for its programs. */
  environment: NodeJS.ProcessEnv;
}

/** Null: it can; else what is missing, and what to install. */
export async function checkpointRefusal({ runtime, ask, environment }: Surroundings): Promise<string | null> {
  if (runtime.kind !== 'podman')
    return `exec checkpoints containers of podman only, and the runtime is ${runtime.name}: use runtime: podman`;
  const format =
    '{{.Host.Security.Rootless}} {{.Host.ServiceIsRemote}} {{.Host.OCIRuntime.Name}} {{.Host.OCIRuntime.Version}}';
  const { exit, output } = await ask(['info', `--format=${format}`]);
  if (exit !== 0) return `podman info failed: ${output.trim().split('\n').at(-1) ?? ''}`;
  return podmanRefusal(output) ?? criuRefusal(await criuVersion(environment));
}

/** `info`: rootless, remote, name of the OCI runtime, and its version, whose last line names what it was built with. */
export function podmanRefusal(info: string): string | null {
  const [rootless, remote, name = ''] = info.trim().split(/\s+/);
  if (rootless === 'true') return 'podman checkpoints containers of root only, and it runs rootless: run exec as root';
  if (remote === 'true') return 'podman is a client of another machine, whose CRIU is not known: use it on this one';
  if (name === 'crun' && !info.includes('+CRIU'))
    return 'crun was built without CRIU: install runc, and give podman runtimeOptions: [--runtime=runc]';
  return null;
}

/** `version`: what `criu --version` says; null: there is no such program. */
export function criuRefusal(version: string | null): string | null {
  const needed = `podman container checkpoint needs CRIU ${FIRST_MAJOR} or later`;
  if (version === null) return `${needed}, and no criu is in PATH: ${WHERE}`;
  const [, number = null, major] = /Version: ((\d+)[\w.-]*)/.exec(version) ?? [];
  if (number === null) return `${needed}, and the criu in PATH does not say its version: ${WHERE}`;
  return Number(major) < FIRST_MAJOR ? `${needed}, and the criu in PATH is ${number}: ${WHERE}` : null;
}

async function criuVersion(environment: NodeJS.ProcessEnv): Promise<string | null> {
  const file = inPath('criu', environment.PATH ?? '');
  return file === null ? null : (await runCommand([file, '--version'], { environment, cwd: '/' })).output;
}

/** Null: processes with state on the GPU can be checkpointed too; else what is missing. */
export async function gpuCheckpointRefusal({ environment }: Surroundings): Promise<string | null> {
  const file = inPath('criu', environment.PATH ?? '');
  const help = file === null ? '' : (await runCommand([file, '--help'], { environment, cwd: '/' })).output;
  return pluginRefusal(pluginFolder(help), inPath(UTILITY, environment.PATH ?? '') !== null);
}

export function pluginRefusal(folder: string | null, hasUtility: boolean): string | null {
  const needed = 'CRIU checkpoints GPU state only with its plugin for CUDA';
  if (folder === null || !existsSync(join(folder, PLUGIN)))
    return `${needed}, and ${PLUGIN} is not in ${folder ?? 'its folder'}: install it there (Fedora: criu-cuda-plugin, or plugins/cuda of CRIU), or name its folder by a line libdir FOLDER in /etc/criu/runc.conf`;
  return hasUtility ? null : `${needed}, which runs cuda-checkpoint: ${NO_UTILITY}`;
}

/** Files of CRIU's options; what stands later goes before what stands earlier. Runtimes name their own. */
const CONFIGURED = ['/etc/criu/default.conf', '/etc/criu/runc.conf', '/etc/criu/crun.conf'];

/** Where CRIU looks for plugins: as configured, else as its help says. */
export function pluginFolder(help: string, files: readonly string[] = CONFIGURED): string | null {
  const texts = files.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'));
  const named = texts.flatMap((text) => /^\s*libdir\s+"?([^\s"#]+)/m.exec(text)?.[1] ?? []);
  return named.at(-1) ?? /--libdir.*\(by default ([^)]+?)\/?\)/.exec(help)?.[1] ?? null;
}
