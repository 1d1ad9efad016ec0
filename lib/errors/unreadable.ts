/** Explains why a file cannot be read or a program cannot be started, without the system's code. */

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
};

export function whyUnreadable(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ('code' in error && reasons[String(error.code)]) || error.message;
}
