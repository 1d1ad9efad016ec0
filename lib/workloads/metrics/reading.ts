/** A number of a run, or why it has none. */
export type Reading =
  | { value: number }
  /** Why there is no number. Without `status`, the metric decides the status of the result. */
  | { missing: string; status?: 'failed' | 'invalid' | 'unsupported' };
