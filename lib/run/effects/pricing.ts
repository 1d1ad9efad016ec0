/** Applies --profile to a document: turns prices of calls into costs of a program. */
import { UsageError } from '../../errors/usage-error.js';
import { callEffects } from '../../metrics/core/call-effects.js';
import { withoutPrices } from '../../metrics/core/program-costs.js';
import { isComparison, type ResultDocument } from '../../results/kinds.js';
import { priced } from './priced.js';
import { namedProfile } from '../../results/shipped-profiles.js';

export interface RawPricing {
  profile?: string;
}

type Pricing = <T extends ResultDocument>(document: T) => T;

/** Reads and checks everything possible before anything is measured. Without a profile the document is unchanged. */
export async function preparePricing(file: string | undefined, metrics: readonly string[]): Promise<Pricing> {
  if (file === undefined) return (document) => document;
  const why = withoutPrices(metrics);
  if (why !== null) throw new UsageError(`A call profile cannot be used here: ${why}. Name OH-005 or overhead too.`);
  const profile = await namedProfile(file);
  return <T extends ResultDocument>(document: T) => priced(document, profile) as T;
}

/** Prices a saved document. */
export async function pricedBy({ profile: file }: RawPricing, document: ResultDocument): Promise<ResultDocument> {
  if (file === undefined) return document;
  const profile = await namedProfile(file);
  const rounds = isComparison(document) ? document.systems : [];
  if (callEffects(rounds).length === 0)
    throw new UsageError(
      'Expected the document of a comparison with prices of calls for --profile but received one without: measure them with gpu-virt-bench compare overhead --profile FILE.',
    );
  return priced(document, profile);
}
