/**
 * The variables that a named system's processes inherit from the caller: an allow-list, so that no setting of a layer
 * leaks in.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { realPath } from '../proof/ld-preload.js';

const inherited = /^(PATH|HOME|USER|LANG|LC_[A-Z]+|TZ|TMPDIR|GVB_SIM|GVB_SIM_COMMAND|GVB_CHECK_DETAILS)$/;

/** File names of known layers, and of this tool's own interposer. */
const layerFile = /^lib(vgpu|fcsp|hami|gemhook|gpushare|cuda-control|gvb[-_]?interpose)[\w.-]*\.so/;

/** `layerFolders`: the folders of the measured systems' libraries. */
export function baseEnvironment(
  caller: NodeJS.ProcessEnv,
  layerFolders: readonly string[] = [],
): Record<string, string> {
  const base: Record<string, string> = {};
  for (const [name, value] of Object.entries(caller))
    if (value !== undefined && inherited.test(name)) base[name] = value;
  const folders = withoutLayers(caller.LD_LIBRARY_PATH ?? '', layerFolders.map(realPath));
  if (folders !== '') base.LD_LIBRARY_PATH = folders;
  return base;
}

/**
 * A CUDA process joins any MPS daemon at the default pipe directory, so this names one that does not exist. Source: the
 * MPS documentation, "CUDA_MPS_PIPE_DIRECTORY".
 */
export const withoutMps = (runDirectory: string): { CUDA_MPS_PIPE_DIRECTORY: string } => ({
  CUDA_MPS_PIPE_DIRECTORY: join(runDirectory, 'no-mps'),
});

/** Also drops empty entries, which mean the working folder to the loader. */
function withoutLayers(searchPath: string, layerFolders: readonly string[]): string {
  const kept = (folder: string) => folder !== '' && !layerFolders.includes(realPath(folder)) && !holdsLayer(folder);
  return searchPath.split(/[:;]/).filter(kept).join(':');
}

function holdsLayer(folder: string): boolean {
  try {
    return readdirSync(folder).some((file) => layerFile.test(file));
  } catch {
    // Nothing is loaded from a folder that cannot be read.
    return false;
  }
}
