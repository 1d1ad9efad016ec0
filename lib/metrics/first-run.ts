/**
 * What `run` measures if nothing is named: one to three of the most telling metrics of each subject, within a minute on
 * an idle machine. Left out are NCCL, which needs two GPUs, error recovery, which raises faults on a card that others
 * may use, compatibility, which takes half a minute alone, and memory bandwidth, whose tenants have to stream at the
 * same time: that takes a minute on a busy machine, and IS-009 has a neighbour that streams.
 */
export const firstRun: readonly string[] = [
  // What a layer adds to the calls of every program.
  'OH-001',
  'OH-002',
  'OH-005',
  // Whether a memory limit holds, where one is set, and what the worst neighbour does.
  'IS-001',
  'IS-009',
  'LLM-001',
  'LLM-004',
  'SCHED-001',
  'CACHE-002',
  'PCIE-001',
  'FRAG-002',
  // How late a new process is, and how much of that is the driver.
  'START-001',
  'START-002',
];
