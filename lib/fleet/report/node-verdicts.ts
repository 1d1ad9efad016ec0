/** What to think of each node, and what to do next. */
import type { Finding, FleetReport, NodeVerdictName } from './document.js';
import { verdicts } from './document.js';
import type { Task } from './gather.js';
import { FEWEST_CARDS } from './robust-score.js';

type NodeEntry = FleetReport['nodes'][number];
type OutlierEntry = FleetReport['outliers'][number];

interface Judged {
  tasks: readonly Task[];
  outliers: readonly OutlierEntry[];
  /** Cards of the group of each card, by task. */
  peers: ReadonlyMap<number, number>;
  simulated: boolean;
}

const worst = (findings: readonly Finding[]): NodeVerdictName =>
  verdicts[Math.max(0, ...findings.map(({ severity }) => verdicts.indexOf(severity)))] as NodeVerdictName;

/** n2 before n10. */
const byNumber = new Intl.Collator('en', { numeric: true });

/**
 * Sorted by name; a task of which no node is known is an entry of its own, at the end. A planned node that ran no task has
 * one too.
 */
export function nodesOf(judged: Judged): NodeEntry[] {
  const byNode = new Map<string, Task[]>();
  for (const task of judged.tasks) {
    const key = task.node === null ? `1 ${task.index}` : `0 ${task.node}`;
    byNode.set(key, [...(byNode.get(key) ?? []), task]);
  }
  const outliers = new Map<string, OutlierEntry[]>();
  for (const each of judged.outliers) {
    const key = cardKey(each.node, each.gpu);
    outliers.set(key, [...(outliers.get(key) ?? []), each]);
  }
  const entries = new Map([...byNode].map(([key, tasks]) => [key, nodeOf(tasks, judged, outliers)]));
  for (const task of judged.tasks) {
    const { plannedFor } = task;
    const key = `0 ${plannedFor}`;
    if (plannedFor !== null && !entries.has(key)) entries.set(key, unmeasured(plannedFor, task));
  }
  return [...entries].sort(([a], [b]) => byNumber.compare(a, b)).map(([, entry]) => entry);
}

const cardKey = (node: string, gpu: string): string => JSON.stringify([node, gpu]);

function nodeOf(
  tasks: readonly Task[],
  judged: Judged,
  outliers: ReadonlyMap<string, readonly OutlierEntry[]>,
): NodeEntry {
  const rows = tasks.flatMap(({ row }) => row ?? []);
  const keys = [...new Set(rows.map(({ node, uuid }) => cardKey(node, uuid)))];
  const findings = [
    ...tasks.flatMap((task) => findingsOf(task, judged)),
    ...keys.flatMap((key) => outliers.get(key) ?? []).map(ofOutlier),
  ].sort((a, b) => verdicts.indexOf(b.severity) - verdicts.indexOf(a.severity));
  return {
    node: tasks[0]?.node ?? null,
    verdict: worst(findings),
    findings,
    gpus: rows.map(({ uuid }) => uuid),
    tasks: tasks.map(({ index }) => index),
    proofs: {
      passed: rows.reduce((sum, { proofs }) => sum + proofs.passed, 0),
      failed: rows.flatMap(({ proofs }) => proofs.failed),
      proven: rows.reduce((sum, { proofs }) => sum + proofs.proven, 0),
      processes: rows.reduce((sum, { proofs }) => sum + proofs.processes, 0),
    },
  };
}

/** A planned node of which nothing is known, because another one ran its task. */
const unmeasured = (node: string, { index, node: other }: Task): NodeEntry => ({
  node,
  verdict: 'UNKNOWN',
  findings: [{ severity: 'UNKNOWN', reason: `task ${index}: node ${other} ran it in its place`, action: again(index) }],
  gpus: [],
  tasks: [],
  proofs: { passed: 0, failed: [], proven: 0, processes: 0 },
});

const NOT_ACTIVE = 5;

const AGAIN = 'measure it again';
const again = (index: number): string =>
  `send task ${index} again: gpu-virt-bench fleet node --plan DIR --index ${index}`;
const LEAVE = 'share no GPU of this node until the layer is repaired, and measure it again';

function findingsOf(task: Task, { peers, simulated }: Judged): Finding[] {
  const { index, row, state, reason, exitCode, plannedFor } = task;
  const about = (severity: Finding['severity'], what: string, action: string | null): Finding => ({
    severity,
    reason: what,
    action,
  });
  const notes = plannedFor === null ? [] : [about('INFO', `task ${index} was planned for node ${plannedFor}`, null)];
  if (row === null) {
    const why = `task ${index}: ${reason ?? state}`;
    const inactive = state === 'refused' && exitCode === NOT_ACTIVE;
    return [
      inactive
        ? about(
            'CRITICAL',
            why,
            'run gpu-virt-bench doctor under the layer on this node, repair it, and measure it again',
          )
        : about('UNKNOWN', why, again(index)),
      ...notes,
    ];
  }
  const others = peers.get(index) ?? 0;
  return [
    ...row.violations.map((each) => about('CRITICAL', `a limit does not hold: ${each}`, LEAVE)),
    ...row.proofs.failed.map((each) => about('CRITICAL', `a proof failed: ${each}`, LEAVE)),
    ...(row.gateFailed
      ? [
          about(
            'CRITICAL',
            'the gate of the plan failed (exit code 3)',
            'look at its thresholds with gpu-virt-bench gate',
          ),
        ]
      : []),
    ...row.impossible.map((each) => about('WARNING', each, AGAIN)),
    ...row.failures.map((each) => about('WARNING', each, AGAIN)),
    ...(row.health.length > 0
      ? [about('INFO', `the machine was not idle and healthy: ${row.health.join(', ')}`, null)]
      : []),
    ...(row.proofs.proven < row.proofs.processes
      ? [
          about(
            'INFO',
            `${row.proofs.proven} of ${row.proofs.processes} processes that gave numbers were proven to be under their system`,
            null,
          ),
        ]
      : []),
    ...(others < FEWEST_CARDS
      ? [
          about(
            'INFO',
            `${others === 1 ? 'it is the only card of its kind' : `there are ${others} cards of its kind`}, and rules that seek outliers need ${FEWEST_CARDS}`,
            'give limits with --limit, which need fewer cards',
          ),
        ]
      : []),
    ...(simulated ? [about('INFO', 'its GPU is simulated: the numbers say nothing about real hardware', null)] : []),
    ...notes,
  ];
}

const CONFIRM =
  'measure this node again; if it repeats, look at its power, temperature and clocks (gpu-virt-bench monitor) before it is drained';

/** A limit is the user's own; what noise could explain once in a while is to be confirmed. */
function ofOutlier({ rule, side, metric, system, words }: OutlierEntry): Finding {
  const reason = `${metric} (${system}): ${words}`;
  if (rule === 'limit') return { severity: 'CRITICAL', reason, action: 'drain this node, or change the limit' };
  return side === 'better'
    ? { severity: 'INFO', reason, action: null }
    : { severity: 'WARNING', reason, action: CONFIRM };
}
