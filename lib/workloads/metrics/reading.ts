/** A number of a run, or why it has none. */
export type Reading =
  | { value: number }
  /** Without `status`, the metric decides. */
  | { missing: string; status?: 'failed' | 'invalid' | 'unsupported' };
