/** The link between host and device: its highest rate, and whether a measured rate exceeds it. */
import { count, described, flag, quantity } from '../core/details.js';
import * as v from 'valibot';
import type { PcieLink } from '../../native/addon-types.js';
import type { Check, MetricResult } from '../../results/document.js';

/**
 * GB/s per lane in one direction, after encoding: 2.5 and 5 GT/s with 8b/10b, 8 to 32 GT/s with 128b/130b, 64 GT/s with
 * 242 of 256 bytes of a flit (PCI Express Base Specification 6.0).
 */
const LANE_GBS = [0.25, 0.5, 0.985, 1.969, 3.938, 7.563];
/** No wider links exist. */
const MOST_LANES = 16;
/** Tolerance above the ceiling, for rounding of its numbers and the error of events. */
export const SLACK = 1.05;

const linkSchema = v.object({ ceilingGbs: v.nullable(v.number()) });

/** Null if NVML does not report the link, or reports a generation that is not listed above. */
export function ceilingGbs({ generation, width }: Pick<PcieLink, 'generation' | 'width'>): number | null {
  const lane = generation === null ? undefined : LANE_GBS[generation - 1];
  return lane === undefined || width === null ? null : lane * width;
}

const linkText = ({ generation, width }: Pick<PcieLink, 'generation' | 'width'>): string =>
  `PCIe generation ${generation}, ${width} lanes`;

/** Why the link gives no upper bound; null if it does. */
export function unboundedBy(link: PcieLink): string | null {
  const { generation, width } = link;
  if (generation === null || width === null)
    return 'NVML reports no PCIe link: the host is connected in another way (such as chip to chip), so the highest possible rate is unknown';
  return ceilingGbs(link) === null ? `the rate of a lane of PCIe generation ${generation} is not known` : null;
}

/** `rates` are in one direction. Data that was not really copied looks faster than the link. */
export function noFasterThan(link: PcieLink, rates: readonly { name: string; gbs: number }[]): Check {
  const name = 'no faster than the link';
  const ceiling = ceilingGbs(link);
  if (ceiling === null) return { name, passed: 'not checked', detail: String(unboundedBy(link)) };
  const beyond = rates.find(({ gbs }) => gbs > SLACK * ceiling);
  const carries = `${linkText(link)} carries ${ceiling.toFixed(1)} GB/s`;
  return {
    name,
    passed: beyond === undefined,
    detail: beyond ? `${beyond.name}: ${beyond.gbs.toFixed(1)} GB/s, but ${carries}` : carries,
  };
}

/** A link that lost lanes, or was read while idle, explains a number but does not make it invalid. */
export function wholeLink(link: PcieLink): Check {
  const name = 'the link runs at full width';
  const { width, maxWidth, underLoad } = link;
  if (width === null || maxWidth === null) return { name, passed: 'not checked', detail: 'NVML does not report it' };
  const when = underLoad ? 'while copies ran' : 'but the copies were over when NVML answered';
  return { name, passed: width === maxWidth, detail: `${width} of ${maxWidth} lanes, ${when}` };
}

const unknown = 'null if NVML does not report it';

/** Schema of `describedLink`. */
export const linkDetails = described(
  v.strictObject({
    generation: v.nullable(count(`PCIe generation; ${unknown}`)),
    width: v.nullable(count(`Lanes; ${unknown}`)),
    maxGeneration: v.nullable(count(`The highest generation of GPU and slot; ${unknown}`)),
    maxWidth: v.nullable(count(`The most lanes of GPU and slot; ${unknown}`)),
    underLoad: flag('Whether copies were in progress when NVML was read'),
    ceilingGbs: v.nullable(quantity('GB/s', 'What the link carries in one direction; null if that is not known')),
  }),
  'The link between host and GPU, as NVML reports it under load',
);

export const describedLink = (link: PcieLink) => ({ ...link, ceilingGbs: ceilingGbs(link) });

/** Why a rate is beyond a link that is said to carry so much, or beyond the fastest that exists; null where it is not. */
function beyond(gbs: number, details: MetricResult['details']): string | null {
  const parsed = v.safeParse(linkSchema, details.link);
  const ceiling = (parsed.success ? parsed.output.ceilingGbs : null) ?? MOST_LANES * (LANE_GBS.at(-1) as number);
  return gbs <= SLACK * ceiling
    ? null
    : `${gbs.toFixed(1)} GB/s, and the link carries no more than ${ceiling.toFixed(1)}`;
}

/** Says why a stored rate cannot be: its own link bounds it, or, where that was left out, the fastest that exists. */
export const beyondLink = ({ value, details }: Pick<MetricResult, 'value' | 'details'>): string | null =>
  value === null ? null : beyond(value, details);

const sourcesSchema = v.array(v.looseObject({ gbs: v.optional(v.number()) }));

/** Says why a stored ratio of rates, which are in its details, cannot be. */
export function sourcesBeyondLink({ details }: Pick<MetricResult, 'details'>): string | null {
  const parsed = v.safeParse(sourcesSchema, details.sources);
  const rates = parsed.success ? parsed.output.flatMap(({ gbs }) => gbs ?? []) : [];
  return rates.map((gbs) => beyond(gbs, details)).find((why) => why !== null) ?? null;
}
