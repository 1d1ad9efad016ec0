/**
 * The coordinator must see the bare GPU, and decides exit code and document, so no layer may be mapped in it: started
 * with LD_PRELOAD or LD_AUDIT, it becomes a process without them, and the workers get the original values back.
 */
/** systems/process/environment.ts restores them; repeated here because importing that file would slow every start. */
const CALLER = 'GVB_CALLER_';
const LOADED = ['LD_PRELOAD', 'LD_AUDIT'];

/** Returns if there was nothing to remove; otherwise this process starts again. */
export async function restartWithoutPreload(): Promise<void> {
  const removed = LOADED.filter((name) => process.env[name]?.trim());
  if (removed.length === 0) return;
  const environment = Object.entries(process.env).map(
    ([name, value]) => `${removed.includes(name) ? CALLER : ''}${name}=${value ?? ''}`,
  );
  const { loadAddon } = await import('../../native/load.js');
  loadAddon().become({
    file: process.execPath,
    arguments: [process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    environment,
  });
}
