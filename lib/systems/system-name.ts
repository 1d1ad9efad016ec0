/**
 * A custom system without proofs is shown as `NAME (unverified)`, and that is its name in documents. It remains the
 * same system when proofs are added: stored results are matched by NAME.
 */
const SUFFIX = ' (unverified)';

export const unverifiedLabel = (name: string): string => `${name}${SUFFIX}`;

export const isUnverified = (label: string): boolean => label.endsWith(SUFFIX);

export const nameOfLabel = (label: string): string => (isUnverified(label) ? label.slice(0, -SUFFIX.length) : label);

/** The one label in `labels` for the same system as `label`; `label` itself if there is none, or more than one. */
export function labelAmong(label: string, labels: readonly string[]): string {
  if (labels.includes(label)) return label;
  const [found, ...others] = labels.filter((each) => nameOfLabel(each) === nameOfLabel(label));
  return found !== undefined && others.length === 0 ? found : label;
}
