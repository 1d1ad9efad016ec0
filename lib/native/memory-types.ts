/** Allocations and frees. */

export type AllocationApi = 'cuMemAlloc' | 'cuMemCreate' | 'cuMemAllocAsync';

export interface AllocationRequest {
  api: AllocationApi;
  /** 0 asks for the allocation granularity. */
  bytes: number;
  live: number;
  count: number;
  warmup: number;
}

export interface AllocationBlock {
  bytes: number;
  live: number;
  allocNs: Float64Array;
  freeNs: Float64Array;
}

export interface FreeRequest {
  bytes: number;
  live: number;
  order: 'fifo' | 'lifo' | 'random';
  count: number;
  warmup: number;
  seed: number;
}

export interface FreeBlock {
  bytes: number;
  live: number;
  freeNs: Float64Array;
  usedBefore: number | null;
  usedAfter: number | null;
}

export interface LiveSetRequest {
  /** Of a block. */
  bytes: number;
  /** Live blocks of each cell, beside the one its pairs allocate. */
  lives: number[];
  /** Pairs of a cell. */
  count: number;
  warmup: number;
  /** Pointers looked at for one sample of `queryNs`; 0: none are. */
  queries: number;
  seed: number;
  /** Whose turn it is, counted around the processors that the thread may use. */
  core: number;
}

export interface LiveSetCell {
  live: number;
  /** One allocation and one free of a random live block, a pair. */
  allocNs: Float64Array;
  freeNs: Float64Array;
  /** Of one cuPointerGetAttribute of a random live block. */
  queryNs: Float64Array;
}
