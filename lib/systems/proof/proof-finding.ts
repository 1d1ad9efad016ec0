/** The outcome of one check of a process. `passed: null` means not checked. */
export interface Finding {
  proof: string;
  passed: boolean | null;
  detail: string;
  /** What to do if it failed, in one sentence. */
  advice?: string;
}
