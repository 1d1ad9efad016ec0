/** How a command ends: its exit code, once everything written is out. */
export async function done(code: Promise<number>): Promise<void> {
  process.exitCode = await code;
}
