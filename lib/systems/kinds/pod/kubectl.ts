/** Calls of kubectl: argument lists without a shell, answers as JSON, and another try where the API server did not answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from 'kubernetes-types/core/v1.js';
import { BenchError } from '../../../errors/bench-error.js';
import { type Finished, runCommand } from '../../process/command.js';

/** What kubectl reads of the caller: where its configuration is, proxies, and what its credential plugins need. */
const clientVariable =
  /^(PATH|HOME|USER|LANG|LC_[A-Z]+|TMPDIR|KUBECONFIG|KUBERNETES_[A-Z_]+|(HTTPS?|NO)_PROXY|(https?|no)_proxy|AWS_[A-Z_]+|GOOGLE_[A-Z_]+|CLOUDSDK_[A-Z_]+|AZURE_[A-Z_]+|USE_GKE_GCLOUD_AUTH_PLUGIN)$/;

/** The connection failed: the call may be made again. */
const unanswered =
  /unable to connect to the server|net\/http|connection refused|i\/o timeout|TLS handshake timeout|\bEOF\b|too many requests|etcdserver|internal error|unavailable|unable to return a response|unable to handle the request/i;
export const MARK = 'GVB_KUBECTL_OF';
const TRIES = 4;
const BETWEEN_MS = 500;
const REQUEST_S = 20;
/** What a client takes beside its request, with a credential plugin, on a busy machine. */
const CLIENT_MS = 30_000;
/** 10 000 pods of a fleet, or a document with all samples in a log. */
const MAX_STDOUT = 2 ** 28;

interface KubectlOptions {
  program: string;
  context: string | undefined;
  namespace: string | undefined;
  caller: NodeJS.ProcessEnv;
  /** Stands in the environment of every call, by which they are found. */
  mark?: string;
  /** How often a call is made that is not answered. Default: 4. */
  tries?: number;
}

export class Kubectl {
  /** The command line before the subcommand. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly #tries: number;

  constructor({ program, context, namespace, caller, mark, tries = TRIES }: KubectlOptions) {
    this.#tries = tries;
    this.argv = [
      program,
      ...(context === undefined ? [] : [`--context=${context}`]),
      ...(namespace === undefined ? [] : [`--namespace=${namespace}`]),
    ];
    const entries = Object.entries(caller).filter(([name]) => clientVariable.test(name));
    this.environment = Object.fromEntries([
      ...entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      ...(mark === undefined ? [] : [[MARK, mark]]),
    ]);
  }

  /** Creates the pod. A try whose answer was lost may have created it; its name is used once. */
  async create(pod: Pod): Promise<void> {
    const finished = await this.#tried(['create', '--filename=-', '--output=json'], { input: JSON.stringify(pod) });
    if (finished.exit === 0 || /AlreadyExists/.test(finished.output)) return;
    throw this.#failure(`pod ${pod.metadata?.name} could not be created`, finished);
  }

  /** Applies a manifest; answers what kubectl says. */
  async apply(manifest: string): Promise<string> {
    const finished = await this.#tried(['apply', '--filename=-'], { input: manifest });
    if (finished.exit === 0) return finished.stdout;
    throw this.#failure('the manifest could not be applied', finished);
  }

  /** Null if there is none of that name. */
  async pod(name: string): Promise<Pod | null> {
    const finished = await this.#tried(['get', 'pod', name, '--output=json', '--ignore-not-found']);
    if (finished.exit !== 0) throw this.#failure(`pod ${name} could not be read`, finished);
    return finished.stdout.trim() === '' ? null : (JSON.parse(finished.stdout) as Pod);
  }

  /** Objects of a kind, e.g. `pods`. */
  async list<T>(kind: string, selector?: string): Promise<T[]> {
    const select = selector === undefined ? [] : [`--selector=${selector}`];
    const finished = await this.#tried(['get', kind, ...select, '--output=json']);
    if (finished.exit !== 0) throw this.#failure(`${kind} could not be listed`, finished);
    return (JSON.parse(finished.stdout) as { items: T[] }).items;
  }

  /** What a container printed; null where nobody knows any more. */
  async log(pod: string, container: string): Promise<string | null> {
    const finished = await this.#tried(['logs', pod, `--container=${container}`, '--tail=-1']);
    return finished.exit === 0 ? finished.stdout : null;
  }

  /** Waits until it is gone. Answers why it is not; null if it is. */
  async remove(name: string, waitMs: number): Promise<string | null> {
    const words = ['delete', 'pod', name, '--ignore-not-found'];
    const wait = ['--wait=true', `--timeout=${Math.ceil(waitMs / 1_000)}s`];
    const gently = await this.#tried([...words, '--grace-period=5', ...wait], { waitMs });
    if (gently.exit === 0) return null;
    // The kubelet of a lost node never confirms.
    const forced = await this.#tried([...words, '--grace-period=0', '--force', ...wait], { waitMs });
    return forced.exit === 0 ? null : lastWords(forced);
  }

  /** A command in a pod. */
  inside(pod: string, container: string, command: readonly string[], timeoutMs?: number): Promise<Finished> {
    return this.#ask(['exec', `--container=${container}`, pod, '--', ...command], { timeoutMs });
  }

  /** `waitMs`: how long the call itself waits for something. */
  async #tried(
    words: readonly string[],
    { input, waitMs }: { input?: string; waitMs?: number } = {},
  ): Promise<Finished> {
    // It would end a wait, too.
    const limit = waitMs === undefined ? [`--request-timeout=${REQUEST_S}s`] : [];
    const more = { ...(input !== undefined && { input }), timeoutMs: (waitMs ?? 1_000 * REQUEST_S) + CLIENT_MS };
    for (let left = this.#tries; ; left--) {
      const finished = await this.#ask([...limit, ...words], more);
      if (finished.exit === 0 || left === 1 || !unanswered.test(finished.output)) return finished;
      await sleep(BETWEEN_MS);
    }
  }

  #ask(words: readonly string[], { input, timeoutMs }: { input?: string; timeoutMs?: number | undefined } = {}) {
    return runCommand([...this.argv, ...words], {
      environment: this.environment,
      cwd: '/',
      stdoutLimit: MAX_STDOUT,
      ...(input !== undefined && { input }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  }

  #failure(what: string, finished: Finished): BenchError {
    const said = lastWords(finished);
    const [, help = ''] = advice.find(([pattern]) => pattern.test(said)) ?? [];
    return new BenchError('SYSTEM', `${what}: ${said.replace(/\.$/, '')}.${help === '' ? '' : ` ${help}`}`);
  }
}

const advice: readonly [RegExp, string][] = [
  [/namespaces? ".*" not found/, 'Name a namespace that is there with namespace=.'],
  [/Forbidden/, 'It needs the rights to create, get, list and delete pods and to create pods/exec (docs/pods.md).'],
  [/context ".*" does not exist/, 'kubectl config get-contexts lists them.'],
  [unanswered, 'Check the cluster with kubectl get nodes.'],
];

/** What kubectl said last, without warnings. */
const lastWords = ({ output, how }: Finished): string => output.trim().split('\n').at(-1) || how;
