/** What starts the tasks of a plan and knows how they are: one implementation per scheduler. */
import type { FleetPlan } from './plan.js';
import type { Submission } from './submissions.js';

/** A job for a task of the plan, as the scheduler knows it. */
export interface ScheduledTask {
  /** Null: the job that merges what was delivered. */
  index: number | null;
  /** The scheduler's own name of it. */
  job: string;
  state: 'waiting' | 'running' | 'ended';
  /** The scheduler's word for that, e.g. `NODE_FAIL` or `Resources`. */
  word: string;
  node: string | null;
}

/** A task to be sent, to that node where one is named. */
interface TaskToSend {
  index: number;
  node?: string | undefined;
}

export interface Sending {
  tasks: readonly TaskToSend[];
  /** Nodes that have delivered, for tasks without a node. */
  notOn: readonly string[];
  /** Jobs that the merge waits for beside those that are sent now. */
  alsoAfter: readonly string[];
  signal: AbortSignal;
}

export interface Scheduler {
  /** Other nodes with GPUs than these, for people to read. Throws BenchError if it cannot be asked. */
  notMeasured(measured: ReadonlySet<string>): Promise<string[]>;
  /** All jobs of the plan that it still knows. Throws BenchError if it cannot be asked. */
  tasks(plan: FleetPlan, submissions: readonly Submission[]): Promise<ScheduledTask[]>;
  /** Whether what is sent ends with a job that merges. */
  readonly merges: boolean;
  /** Lines of the logs of tasks that have ended, with their deliveries; absent where nodes write into the folder. */
  logs?(tasks: readonly ScheduledTask[]): AsyncGenerator<string>;
  /** Sends tasks, then the merge; yields each submission as soon as the scheduler has it. Throws BenchError. */
  send(folder: string, plan: FleetPlan, sending: Sending): AsyncGenerator<Submission>;
}
