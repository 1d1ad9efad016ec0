/** The metrics that each purpose of sharing a GPU needs: what `--for` measures. docs/metrics.md lists them from here. */
import { didYouMean } from '../errors/closest.js';
import { quoted, UsageError } from '../errors/usage-error.js';
import { type PurposeName, purposeNames } from '../results/text/purpose-names.js';

interface Purpose {
  /** Who shares the GPU, in a sentence for people. */
  about: string;
  /** Metrics whose limits are looked at first: a violation of one decides before any cost. */
  limits: readonly string[];
  /** Ids with the reason for each, in the order of the answer: what users of this kind notice first comes first. */
  metrics: Readonly<Record<string, string>>;
}

export const purposes: Readonly<Record<PurposeName, Purpose>> = {
  serving: {
    about: 'Language models that answer requests: latency per token, and what neighbours do to it.',
    limits: ['IS-001', 'IS-010', 'IS-011'],
    metrics: {
      'LLM-004': 'the time per token is what users see',
      'LLM-011': 'replicas that share a card must get more from it than one',
      'LLM-009': 'a serving loop whose steps vary makes whole batches wait',
      'LLM-003': 'the best batch size may change',
      'LLM-001': 'prefill is attention, bound by compute',
      'LLM-002': 'the key-value cache grows with every sequence',
      'OH-001': 'decode at small batches is many short launches',
      'OH-005': 'every driver call of a token pays for interception',
      'START-001': 'a new replica answers only after a cold start',
      'IS-009': 'the worst neighbour decides the slowest requests',
      'IS-010': 'a crash of a neighbour must not end the server',
      'IS-001': 'weights and cache need the whole memory limit',
      'IS-011': 'a neighbour above its limit takes the memory of the cache',
    },
  },
  training: {
    about: 'Jobs that run for hours: throughput, copies, and nothing that ends them.',
    limits: ['IS-001', 'IS-010'],
    metrics: {
      'OH-010': 'throughput is the length of the job',
      'LLM-008': 'training runs on tensor cores in mixed precision',
      'LLM-006': 'copies and kernels must overlap',
      'LLM-005': 'frameworks allocate from a pool in every step',
      'LLM-007': 'models and optimiser states are large tensors',
      'OH-007': 'an allocator that lives for days must not slow down',
      'FRAG-001': 'large blocks must still fit after days of churn',
      'PCIE-001': 'batches go to the card',
      'PCIE-002': 'checkpoints come back',
      'LLM-010': 'a model may be split over several GPUs',
      'NCCL-001': 'gradients are summed over several GPUs',
      'IS-006': 'a co-tenant must leave the share that was paid for',
      'BW-001': 'most training kernels are bound by memory bandwidth',
      'IS-010': 'a crash of a neighbour must not end the job',
      'IS-001': 'the batch size follows from the memory limit',
    },
  },
  notebooks: {
    about: 'Many people on one card who start, pause and crash often.',
    limits: ['IS-001', 'ERR-003'],
    metrics: {
      'START-001': 'this is the wait when a notebook opens',
      'START-006': 'a class opens its notebooks at the same time',
      'OH-009': 'most notebooks are idle, and must cost nothing then',
      'IS-008': 'equal users expect equal parts',
      'IS-007': 'a cell should take as long as the last time',
      'SCHED-004': "a short cell waits for another tenant's long kernel",
      'SCHED-001': 'notebooks take turns on the card',
      'IS-002': 'a user must learn quickly that memory is used up',
      'FRAG-003': 'memory of a notebook that was killed must come back',
      'ERR-002': 'a notebook that crashed is started again',
      'ERR-003': 'mistakes of a user must not end the process',
      'IS-013': 'users look at what the card reports to them',
      'COMPAT-001': 'users bring software of their own',
      'IS-001': 'everyone plans with the memory limit',
    },
  },
  'strict-tenants': {
    about: 'Tenants who do not trust each other: limits and isolation before any cost.',
    limits: ['IS-005', 'IS-010', 'IS-011', 'IS-001', 'IS-012', 'IS-003'],
    metrics: {
      'IS-005': 'no tenant may read what another left in memory',
      'IS-010': 'no fault of one tenant may reach another',
      'IS-011': 'every way to allocate must obey the memory limit',
      'IS-001': 'the memory limit must hold, and be usable',
      'IS-012': 'every way to launch work must obey the compute limit',
      'IS-003': 'the compute limit must be the one that was set',
      'IS-013': 'a tenant must see its own limits and nothing of others',
      'IS-014': 'a layer must not change what a program computes',
      'IS-015': 'no tenant may learn what its neighbour does',
      'IS-009': 'a hostile neighbour must not slow the others down',
      'IS-008': 'equal prices mean equal parts',
      'BW-001': 'no limit covers memory bandwidth',
      'CACHE-002': 'no limit covers the L2 cache',
      'PCIE-003': 'no limit covers the link to the host',
      'FRAG-003': 'a tenant that was killed must give its memory back',
      'ERR-002': 'a tenant must come back after a fault',
    },
  },
};

export const metricsFor = (purpose: PurposeName): string[] => Object.keys(purposes[purpose].metrics);

/** What a plan says about its purpose. */
export const purposeText = (name: PurposeName): string =>
  `For ${name}: ${purposes[name].about} Limits that are looked at first: ${purposes[name].limits.join(', ')}.`;

/** `what` is the name of the option, e.g. `--for`. Throws UsageError for an unknown name. */
export function parsePurpose(what: string, text: string): PurposeName {
  const found = purposeNames.find((name) => name === text);
  if (found) return found;
  const hint = didYouMean(text, purposeNames, `there are ${purposeNames.join(', ')}.`);
  throw new UsageError(`Expected ${what} to be a purpose but received ${quoted(text)}: ${hint}`);
}
