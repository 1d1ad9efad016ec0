/** Lists of nodes as Slurm writes them: `gpu[01-03,7],login-1`. */
import { quoted, UsageError } from '../../errors/usage-error.js';
import { firstTwice } from '../../results/first-twice.js';

const MOST_NODES = 100_000;
/** Separated by commas; each has names and parts in brackets. */
const list = /^(?:[\w.-]+|\[[\d,-]+\])+(?:,(?:[\w.-]+|\[[\d,-]+\])+)*$/;
const element = /(?:[\w.-]+|\[[\d,-]+\])+/g;
const part = /\[([\d,-]+)\]|[\w.-]+/g;

/** Names in the order of the list. Throws UsageError. */
export function nodesIn(text: string, option: string): string[] {
  const refuse = (why: string) =>
    new UsageError(
      `Expected ${option} to be names of nodes such as gpu1,gpu[3-7,9] but received ${quoted(text)}${why}.`,
    );
  if (!list.test(text)) throw refuse('');
  const names = [...text.matchAll(element)].flatMap(([each]) => expanded(each, refuse));
  if (names.length > MOST_NODES) throw refuse(`, which are more than ${MOST_NODES}`);
  if (names.some((name) => !/^\w/.test(name))) throw refuse(', in which a name begins with a dot or a dash');
  const twice = firstTwice(names);
  if (twice !== null) throw refuse(`, which names ${quoted(twice)} twice`);
  return names;
}

function expanded(text: string, refuse: (why: string) => UsageError): string[] {
  let names = [''];
  for (const [whole, ranges] of text.matchAll(part)) {
    const endings = ranges === undefined ? [whole] : ranges.split(',').flatMap((range) => numbers(range, refuse));
    if (names.length * endings.length > MOST_NODES) throw refuse(`, which are more than ${MOST_NODES}`);
    names = names.flatMap((name) => endings.map((ending) => `${name}${ending}`));
  }
  return names;
}

function numbers(range: string, refuse: (why: string) => UsageError): string[] {
  const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range) ?? [];
  if (first === undefined || last === undefined) throw refuse(`: ${quoted(range)} is no number and no range`);
  const count = Number(last) - Number(first) + 1;
  if (count < 1) throw refuse(`: the range ${range} is empty`);
  if (count > MOST_NODES) throw refuse(`, which are more than ${MOST_NODES}`);
  // Slurm keeps leading zeros: gpu[08-10] is gpu08, gpu09, gpu10.
  return Array.from({ length: count }, (_, at) => String(Number(first) + at).padStart(first.length, '0'));
}
