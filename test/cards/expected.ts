/** What every metric is on every card that the simulated driver knows: `ok`, or `unsupported` with the reason. */
import { metrics } from '../../lib/metrics/registry.js';

export interface Card {
  /** The settings of GVB_SIM. */
  sim: string;
  /** What CUDA and NVML call it. */
  product: string;
  computeCapability: string;
  multiprocessors: number;
  memoryMib: number;
  /** Threads of a multiprocessor. */
  threads: number;
  /** The most shared memory of a block. */
  sharedKib: number;
}

const card = (
  sim: string,
  product: string,
  computeCapability: string,
  [multiprocessors, memoryMib, threads, sharedKib]: readonly [number, number, number, number],
): Card => ({ sim, product, computeCapability, multiprocessors, memoryMib, threads, sharedKib });

export const CARDS: readonly Card[] = [
  card('card=gtx-1650-4gb', 'NVIDIA GeForce GTX 1650', '7.5', [14, 4_096, 1_024, 64]),
  card('card=rtx-3080-10gb', 'NVIDIA GeForce RTX 3080', '8.6', [68, 10_240, 1_536, 99]),
  card('card=l4', 'NVIDIA L4', '8.9', [58, 23_034, 1_536, 99]),
  card('card=a10', 'NVIDIA A10', '8.6', [72, 23_028, 1_536, 99]),
  card('card=a100-40gb', 'NVIDIA A100-SXM4-40GB', '8.0', [108, 40_960, 2_048, 163]),
  card('card=rtx-4090', 'NVIDIA GeForce RTX 4090', '8.9', [128, 24_564, 1_536, 99]),
  card('card=rtx-5090', 'NVIDIA GeForce RTX 5090', '12.0', [170, 32_607, 1_536, 99]),
  card('card=gb10', 'NVIDIA GB10', '12.1', [48, 122_570, 1_536, 99]),
  card('card=h100', 'NVIDIA H100 80GB HBM3', '9.0', [132, 81_559, 2_048, 227]),
  card('card=h200', 'NVIDIA H200', '9.0', [132, 143_771, 2_048, 227]),
  card('card=b200', 'NVIDIA B200', '10.0', [148, 183_359, 2_048, 227]),
  card('card=a100-40gb,mig=1g.5gb', 'NVIDIA A100-SXM4-40GB MIG 1g.5gb', '8.0', [14, 4_864, 2_048, 163]),
  card('card=h100,mig=1g.10gb', 'NVIDIA H100 80GB HBM3 MIG 1g.10gb', '9.0', [16, 9_984, 2_048, 227]),
  card('card=h200,mig=3g.71gb', 'NVIDIA H200 MIG 3g.71gb', '9.0', [60, 71_168, 2_048, 227]),
  card('card=b200,mig=2g.45gb', 'NVIDIA B200 MIG 2g.45gb', '10.0', [36, 45_312, 2_048, 227]),
];

export const cardNamed = (sim: string): Card => {
  const found = CARDS.find((each) => each.sim === sim);
  if (!found) throw new Error(`No card is ${sim}.`);
  return found;
};

/** Beginnings of reasons. */
type Reasons = Readonly<Record<string, string>>;

const SEVERAL = 'several GPUs are needed';
const NATIVE = 'needs a native arm';
const NO_MEMORY_LIMIT = 'no memory limit is configured';
const NO_COMPUTE_LIMIT = 'no compute limit is set';

/** On one GPU, without a layer that sets limits. */
export const WITHOUT_LIMITS: Reasons = {
  'OH-008': 'layer has no compute limit',
  'OH-010': NATIVE,
  'IS-001': NO_MEMORY_LIMIT,
  'IS-002': NO_MEMORY_LIMIT,
  'IS-003': NO_COMPUTE_LIMIT,
  'IS-004': NO_COMPUTE_LIMIT,
  'IS-006': 'the system sets no compute limit',
  'IS-011': NO_MEMORY_LIMIT,
  'IS-012': NO_COMPUTE_LIMIT,
  'LLM-005': NATIVE,
  'CKPT-007': 'the host has too little memory: ',
  'CKPT-008': NO_MEMORY_LIMIT,
  'LLM-010': SEVERAL,
  'NCCL-001': SEVERAL,
  'NCCL-002': SEVERAL,
  'NCCL-003': SEVERAL,
  'NCCL-004': SEVERAL,
};

const NO_LINK = 'NVML reports no PCIe link';
const NO_CHECKPOINT =
  'checkpoint of a process returned CUDA_ERROR_OUT_OF_MEMORY (2): the driver checkpoints no process on a MIG instance.';

const ON_INSTANCES: Reasons = {
  'CKPT-001': NO_CHECKPOINT,
  'CKPT-002': NO_CHECKPOINT,
  'CKPT-003': NO_CHECKPOINT,
  'CKPT-004': NO_CHECKPOINT,
  'CKPT-005': NO_CHECKPOINT,
  'CKPT-006': NO_CHECKPOINT,
  'CKPT-009': 'the driver checkpoints no process here: checkpoint: CUDA_ERROR_OUT_OF_MEMORY (2)',
};

/** Besides, on some cards. */
export const ON_CARDS: Readonly<Record<string, Reasons>> = {
  'card=gtx-1650-4gb': {
    'LLM-001': 'attention needs compute capability 8.0 or higher; this GPU has 7.5.',
    'LLM-004': 'the decoder needs compute capability 8.0 or higher; this GPU has 7.5.',
    'LLM-011': 'the decoder needs compute capability 8.0 or higher; this GPU has 7.5.',
    'LLM-008': 'matrix products of fp16 need compute capability 8.0 or higher; this GPU has 7.5.',
    'BW-003': '8 tenants do not fit: ',
  },
  'card=gb10': {
    ...{ 'PCIE-001': NO_LINK, 'PCIE-002': NO_LINK, 'PCIE-003': NO_LINK, 'PCIE-004': NO_LINK },
    'CKPT-005': "the coordinator's NVML does not list the targets",
  },
  ...Object.fromEntries(CARDS.flatMap(({ sim }) => (sim.includes(',mig=') ? [[sim, ON_INSTANCES]] : []))),
};

/** The beginning of the reason for which a metric is unsupported on a card; null: it has a number there. */
export const reasonOn = ({ sim }: Card, id: string): string | null => WITHOUT_LIMITS[id] ?? ON_CARDS[sim]?.[id] ?? null;

/** The compute capability from which on LLM-008 has a row of FP8. */
export const hasFp8 = ({ computeCapability }: Card): boolean => Number(computeCapability) >= 8.9;

export const ALL_IDS: readonly string[] = metrics.map(({ id }) => id);
