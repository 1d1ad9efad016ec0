/** Runs the programs of Slurm by an argument list, without a shell. */
import { BenchError } from '../../errors/bench-error.js';
import { plain } from '../../results/text/plain.js';
import { BoundedLog } from '../../workers/lines.js';
import { local } from '../../workers/local.js';

/** Variables of sbatch that would undo what its script says: they go before `#SBATCH` lines. */
const UNDOING = ['SBATCH_EXPORT', 'SBATCH_ARRAY_INX', 'SBATCH_REQUEUE', 'SBATCH_GET_USER_ENV', 'SBATCH_WAIT'];

/** What Slurm's programs and a task need; all others may hold secrets, or load a layer. */
const NEEDED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|SLURM_\w+|SBATCH_\w+)$/;

const environmentOf = (all: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(all).filter(([name]) => NEEDED.test(name) && !UNDOING.includes(name))),
  LC_ALL: 'C',
});

/** Longer than a busy controller takes; the programs themselves give up sooner. */
const TIMEOUT_MS = 120_000;
/** A million jobs of 100 characters. */
const MOST_CHARACTERS = 100_000_000;

/** What the program printed on stdout; sites let it print messages on stderr. Throws BenchError, which says why. */
export async function askSlurm(program: string, args: readonly string[]): Promise<string> {
  const child = local.start([program, ...args], { environment: environmentOf(process.env) });
  child.stdin.on('error', () => {}).end();
  const [printed, said] = [new BoundedLog(MOST_CHARACTERS), new BoundedLog()];
  child.stdout.on('data', (chunk: Buffer) => printed.append(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => said.append(chunk.toString()));
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void child.kill();
  }, TIMEOUT_MS);
  const { exitCode, how } = await child.ended;
  clearTimeout(timer);
  if (exitCode === 0 && !printed.isCut) return printed.text;
  const [last = ''] = said.lastLines(1);
  const why = isLate ? `did not answer within ${TIMEOUT_MS / 1_000} s` : printed.isCut ? 'printed too much' : how;
  throw new BenchError('SYSTEM', `${program} ${[why, plain(last)].filter(Boolean).join(': ').replace(/\.$/, '')}.`);
}
