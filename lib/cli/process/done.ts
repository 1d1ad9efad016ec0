/** Ends a command with its exit code after all output has been written. */
export async function done(code: Promise<number>): Promise<void> {
  process.exitCode = await code;
}
