/** Commands that another command starts end with it, however it ends: a SIGKILL of a task leaves no measurement behind. */

export const tiedEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  GVB_ENDS_WITH_PARENT: String(process.pid),
});

/** Returns if nothing asked for it; workers do not inherit the variable. */
export async function tieToParent(): Promise<void> {
  const parent = process.env.GVB_ENDS_WITH_PARENT;
  delete process.env.GVB_ENDS_WITH_PARENT;
  if (parent === undefined) return;
  const { loadAddon } = await import('../../native/load.js');
  loadAddon().dieWithParent();
  // It ended before this process could be told.
  if (String(process.ppid) !== parent) process.kill(process.pid, 'SIGKILL');
}
