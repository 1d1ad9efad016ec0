// What a soak's states say: whether counts grew, and how fast memory grows at most. Pure arithmetic, for soak.js.
import { median } from 'simple-statistics';
import { slope } from '../../dist/stats/slope.js';

/** What is counted after every turn, and has to be the same at the end. */
export const COUNTS = {
  descriptors: 'open descriptors of the process',
  threads: 'threads of the process',
  temporaryFiles: 'files in TMPDIR',
  resultFiles: 'files in the results folder',
  sharedMemory: 'objects in /dev/shm',
  processes: 'processes that nobody waits for',
  gpuUsedMib: 'MiB of GPU memory in use',
};
/** What grows without a leak for a while: bytes, and the option that sets the limit of its slope. */
export const MEMORY = {
  heapBytes: { what: 'heap after garbage collection, without compiled code', limit: 'heapMbPerHour' },
  rssBytes: { what: 'resident memory', limit: 'rssMbPerHour' },
};
/** Medians of more turns depend less on each other; fewer blocks leave too few degrees of freedom. */
const MOST_BLOCKS = 20;
const FEWEST_BLOCKS = 5;
const MB = 1e6;

const settled = (life, warmUpS) => life.turns.filter(({ atS }) => atS >= warmUpS);

/** From the most of the first turns to the least of the last ones: what varies from turn to turn does not count. */
function growthOf(turns, name, turnsPerPass) {
  const each = Math.min(turnsPerPass, Math.floor(turns.length / 2));
  const values = (some) => some.map((turn) => turn[name]).filter((value) => value !== null);
  const [first, last] = [values(turns.slice(0, each)), values(turns.slice(-each))];
  return each === 0 || first.length === 0 || last.length === 0 ? null : Math.min(...last) - Math.max(...first);
}

function countRow(name, lives, turnsPerPass) {
  const growths = lives.map((turns) => growthOf(turns, name, turnsPerPass)).filter((growth) => growth !== null);
  const growth = growths.length === 0 ? null : Math.max(...growths);
  const said = growth === null ? 'not judged' : growth > 0 ? 'grew' : 'did not grow';
  return { name, what: COUNTS[name], said, value: growth, unit: 'more', limit: 0 };
}

/** Two points in each block of turns, at the same time; each life of the process has a level of its own. */
function pointsOf(turns, name) {
  const blocks = Math.min(MOST_BLOCKS, Math.floor(turns.length / 2));
  const points = Array.from({ length: blocks }, (_, i) => {
    const from = Math.floor((i * turns.length) / blocks);
    const to = Math.floor(((i + 1) * turns.length) / blocks);
    const half = Math.floor((from + to) / 2);
    const x = (turns[from].atS + turns[to - 1].atS) / 2 / 3_600;
    const level = (some) => median(some.map((turn) => turn[name])) / MB;
    return [turns.slice(from, half), turns.slice(half, to)].map((some) => [x, level(some)]);
  }).flat();
  const middle = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [0, 1].map((index) => middle(points.map((point) => point[index])));
  return points.map((point) => [point[0] - x, point[1] - y]);
}

function memoryRow(name, lives, limits) {
  const { what, limit } = MEMORY[name];
  const points = lives.filter((turns) => turns.length >= 2 * FEWEST_BLOCKS).flatMap((turns) => pointsOf(turns, name));
  const row = { name, what, unit: 'MB an hour', limit: limits[limit] };
  const fit = points.length === 0 ? null : slope(points);
  if (!fit?.ci95) return { ...row, said: 'not judged', value: null, ci95: null };
  const [low, high] = fit.ci95;
  const said = high < row.limit ? 'did not grow' : low > row.limit ? 'grew' : 'too few turns to exclude growth';
  return { ...row, said, value: fit.value, ci95: fit.ci95 };
}

/** A row for everything that was watched. `limits`: warmUpMinutes, heapMbPerHour, rssMbPerHour. */
export function judge({ lives, turnsPerPass, limits }) {
  const turns = lives.map((life) => settled(life, limits.warmUpMinutes * 60));
  return [
    ...Object.keys(COUNTS).map((name) => countRow(name, turns, turnsPerPass)),
    ...Object.keys(MEMORY).map((name) => memoryRow(name, turns, limits)),
  ];
}

export const hasPassed = (rows) => rows.every(({ said }) => said === 'did not grow');

const figure = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(2));

export function rowText({ what, said, value, unit, limit, ci95 }) {
  if (value === null) return `${what}: ${said}: too few turns after the warm-up`;
  const interval = ci95 ? ` (95 % interval ${ci95.map(figure).join(' … ')})` : '';
  return `${what}: ${said}: ${figure(value)} ${unit}${interval}, limit ${figure(limit)}`;
}
