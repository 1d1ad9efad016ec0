/** The nodes that Slurm would give GPUs of. */
import { askSlurm } from './program.js';

interface FoundNode {
  name: string;
  /** The state in which it takes no jobs; null if it takes some. */
  unusable: string | null;
}

/** What sinfo calls nodes on which a job would wait for an administrator. */
const UNUSABLE = /^(?:down|drain|drained|draining|fail|failing|error|maint|future|unknown|inval)/;

/** Throws BenchError if Slurm cannot be asked. */
export async function gpuNodes(partition: string | undefined): Promise<FoundNode[]> {
  const args = ['--noheader', '--Node', '--format=%N|%T|%G'];
  const listed = await askSlurm('sinfo', [...args, ...(partition === undefined ? [] : [`--partition=${partition}`])]);
  const found = new Map<string, string>();
  for (const line of listed.split('\n')) {
    // One line for each partition that the node is in; the state may end with a mark.
    const [name = '', state = '', gres = ''] = line.split('|').map((text) => text.trim());
    if (name !== '' && /\bgpu\b/.test(gres)) found.set(name, state);
  }
  const isUsable = (state: string) => !UNUSABLE.test(state) && !state.includes('*');
  return [...found].map(([name, state]) => ({ name, unusable: isUsable(state) ? null : state }));
}

export const nodeText = ({ name, unusable }: FoundNode): string => (unusable === null ? name : `${name} (${unusable})`);
