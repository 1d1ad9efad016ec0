/**
 * A custom system without proofs is shown as `NAME (unverified)`, and that is its name in documents. It stays the same
 * system when proofs are added: what is stored is matched by NAME.
 */
const SUFFIX = ' (unverified)';

export const unverifiedLabel = (name: string): string => `${name}${SUFFIX}`;

export const isUnverified = (label: string): boolean => label.endsWith(SUFFIX);

export const nameOfLabel = (label: string): string => (isUnverified(label) ? label.slice(0, -SUFFIX.length) : label);

/** The label among `labels` of the system that `label` means; `label` itself where there is none, or more than one. */
export function labelAmong(label: string, labels: readonly string[]): string {
  if (labels.includes(label)) return label;
  const [found, ...others] = labels.filter((each) => nameOfLabel(each) === nameOfLabel(label));
  return found !== undefined && others.length === 0 ? found : label;
}
