/** What a GPU is shared for, as `--for` names it; metrics/purposes.ts says what each needs. */
export const purposeNames = ['serving', 'training', 'notebooks', 'strict-tenants'] as const;

export type PurposeName = (typeof purposeNames)[number];
