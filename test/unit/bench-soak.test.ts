/** What a soak says of states that grow, and of others that do not. */
import { expect, it } from 'vitest';
import { gaussianFrom, seededRandom } from '../../lib/stats/random.js';

type Turn = Record<string, number | null>;
interface Row {
  name: string;
  said: string;
  value: number | null;
}
interface Verdict {
  judge: (state: { lives: { turns: Turn[] }[]; turnsPerPass: number; limits: object }) => Row[];
  hasPassed: (rows: readonly Row[]) => boolean;
  rowText: (row: Row) => string;
}
const { judge, hasPassed, rowText } = (await import(
  new URL('../../bench/soak/verdict.js', import.meta.url).href
)) as Verdict;

const TURN_S = 60;
const PER_PASS = 16;
const limits = { warmUpMinutes: 20, heapMbPerHour: 1, rssMbPerHour: 8 };

/** Turns of `hours`: the counts vary within a pass, and memory by `noiseMb` after an hour's growth in the warm-up. */
function life(hours: number, seed: number, change: (turn: Turn, hour: number, i: number) => Turn = (turn) => turn) {
  const noise = gaussianFrom(seededRandom(seed));
  const turns = Array.from({ length: (hours * 3_600) / TURN_S }, (_, i): Turn => {
    const hour = (i * TURN_S) / 3_600;
    const warm = 20 * Math.min(1, hour * 3);
    const turn = {
      atS: (i + 1) * TURN_S,
      heapBytes: (30 + warm + 0.2 * noise()) * 1e6,
      rssBytes: (120 + warm + 2 * noise()) * 1e6,
      descriptors: 24 + (i % PER_PASS === 3 ? 2 : 0),
      threads: 13 + (i % 3),
      temporaryFiles: 0,
      resultFiles: 40 - (i % 4),
      sharedMemory: 1,
      processes: 0,
      gpuUsedMib: 504,
    };
    return change(turn, hour, i);
  });
  return { turns };
}

const judged = (...lives: { turns: Turn[] }[]) => judge({ lives, turnsPerPass: PER_PASS, limits });
const grown = (rows: readonly Row[]) => rows.filter(({ said }) => said !== 'did not grow').map(({ name }) => name);

it('passes what does not grow, in one life and in several', () => {
  const seeds = [1, 2, 3, 4, 5];
  expect(seeds.map((seed) => grown(judged(life(6, seed))))).toEqual(seeds.map(() => []));
  const lives = judged(
    life(4, 6),
    life(3, 7, (turn) => ({ ...turn, heapBytes: (turn.heapBytes ?? 0) + 9e6 })),
  );
  expect(grown(lives)).toEqual([]);
  expect(hasPassed(lives)).toBe(true);
});

it.each(['descriptors', 'threads', 'temporaryFiles', 'resultFiles', 'sharedMemory', 'processes', 'gpuUsedMib'])(
  'fails where %s grow by one in five passes',
  (name) => {
    const leaking = life(6, 1, (turn, _, i) => ({
      ...turn,
      [name]: (turn[name] ?? 0) + Math.floor(i / (5 * PER_PASS)),
    }));
    const rows = judged(leaking);
    expect(grown(rows)).toEqual([name]);
    expect(rows.find((row) => row.name === name)).toMatchObject({ said: 'grew' });
    expect(hasPassed(rows)).toBe(false);
    // A later life without it does not excuse it.
    expect(grown(judged(leaking, life(6, 2)))).toEqual([name]);
  },
);

it.each([
  ['heapBytes', 1.5, 'grew'],
  ['heapBytes', 1, 'too few turns to exclude growth'],
  ['rssBytes', 12, 'grew'],
])('fails where %s grows by %f MB an hour', (name, mbPerHour, said) => {
  const rows = judged(life(12, 3, (turn, hour) => ({ ...turn, [name]: (turn[name] ?? 0) + mbPerHour * 1e6 * hour })));
  expect(grown(rows)).toEqual([name]);
  const row = rows.find((each) => each.name === name) as Row;
  expect(row).toMatchObject({ said });
  expect(row.value).toBeCloseTo(mbPerHour, 0);
  expect(hasPassed(rows)).toBe(false);
});

it('does not pass what is too short to judge', () => {
  const rows = judged(life(0.25, 1));
  expect(new Set(rows.map(({ said }) => said))).toEqual(new Set(['not judged']));
  expect(hasPassed(rows)).toBe(false);
  expect(rowText(rows[0] as Row)).toMatch(/: not judged: too few turns after the warm-up$/);
});

it('does not judge a count that the machine does not tell', () => {
  const rows = judged(life(3, 1, (turn) => ({ ...turn, gpuUsedMib: null })));
  expect(grown(rows)).toEqual(['gpuUsedMib']);
});
