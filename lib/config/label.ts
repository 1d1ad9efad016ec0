/** Names of systems and workloads. */
import { type Field, key, matching } from './schema.js';

/** Safe in names of folders and files, and unambiguous in text. */
const pattern = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,39}$/;

export const label = (): Field<string, string> =>
  matching(pattern, 'at most 40 letters, digits and . _ + -, the first a letter or digit', 'NAME');

/** The setting `name` of a kind of system. */
export const nameOf = (kind: string) => key(label(), `Name of the system in documents. Default: ${kind}.`);
