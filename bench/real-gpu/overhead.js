// Part 3: the overhead and start-up categories at tier quick: native, under HAMi-core with an SM limit and under MPS,
// with what each metric must show there.
import { resolve } from 'node:path';
import { compare, metric, values, verdict } from './evidence.js';

const GIB_OF_TENANTS = 40;

function quick() {
  const library = `library=${resolve(values.hami)},memory=${GIB_OF_TENANTS}GiB`;
  const systems = ['native', `hami-core:${library},sm=50`, 'mps'];
  const result = compare('compared-overhead-quick', systems, [
    'overhead',
    'start-up',
    '--tier',
    'quick',
    '--rounds',
    '2',
  ]);
  const { systems: rounds } = result.document();
  const [native, hami, mps] = rounds.map(([round]) => round);
  verdict('native, HAMi-core and MPS attest', result.status === 0, `exit ${result.status}`);
  for (const document of rounds.flat()) {
    const seconds = document.durationMs / 1_000;
    verdict(
      `overhead and start-up, quick, under 40 s (${document.system.name})`,
      seconds < 40,
      `${seconds.toFixed(1)} s`,
    );
    const bad = document.metrics.filter(({ status }) => status === 'failed' || status === 'invalid');
    const detail = bad.map(({ id, status, reason }) => `${id} ${status}: ${reason}`).join('; ');
    verdict(
      `no metric failed (${document.system.name})`,
      bad.length === 0,
      detail || `${document.metrics.length} metrics`,
    );
  }
  contention(native);
  tracking(native, hami);
  limiter(hami);
  monitoring(native, hami);
  starts(native, hami, mps);
}

function contention(native) {
  const { rows } = metric(native, 'OH-006').details;
  const counts = [...new Set(rows.map(({ processes }) => processes))];
  verdict('OH-006 has eight processes', counts.includes(8), counts.join(', '));
}

function tracking(native, hami) {
  const slope = (document) => metric(document, 'OH-007').details;
  const [low] = slope(hami).slopeCi95 ?? [];
  const show = ({ slopeNsPerBlock, slopeCi95 }) => `${slopeNsPerBlock.toFixed(3)} ${JSON.stringify(slopeCi95)}`;
  verdict(
    "OH-007 shows HAMi-core's list search: a slope above 0",
    low > 0,
    `native ${show(slope(native))}, HAMi-core ${show(slope(hami))} ns a block`,
  );
}

function limiter(hami) {
  const { status, reason, value, ci95 } = metric(hami, 'OH-008');
  verdict(
    'OH-008 is measured under HAMi-core',
    status === 'ok',
    `${status} ${reason ?? ''} ${value} ${JSON.stringify(ci95)} ns`,
  );
}

function monitoring(native, hami) {
  const of = (document) => metric(document, 'OH-009');
  const wakeups = (document) => of(document).details.rows[0].wakeupsPerSecond;
  verdict(
    "OH-009 shows HAMi-core's watcher thread",
    of(hami).details.threads.length > of(native).details.threads.length && wakeups(hami) > wakeups(native) + 4,
    `${of(native).value.toFixed(3)} % native, ${of(hami).value.toFixed(3)} % HAMi-core; wake-ups/s ${wakeups(native).toFixed(1)}, ${wakeups(hami).toFixed(1)}`,
  );
}

function starts(native, hami, mps) {
  const init = (document) => metric(document, 'START-002').value;
  const ratio = init(hami) / init(native);
  verdict('START-002 under HAMi-core is 2 to 4 times native', ratio >= 2 && ratio <= 4, `ratio ${ratio.toFixed(2)}`);
  const fall = init(native) / init(mps);
  verdict(
    'START-002 falls several-fold under MPS',
    fall >= 3,
    `native ${init(native).toFixed(1)}, MPS ${init(mps).toFixed(1)} ms`,
  );
  const slope = (document) => metric(document, 'START-006').details.slopes.total.msPerProcess;
  verdict(
    'START-006 says whether starts serialise',
    [native, hami].every((document) => Number.isFinite(slope(document))),
    `total, ms a process: native ${slope(native).toFixed(1)}, HAMi-core ${slope(hami).toFixed(1)}, MPS ${slope(mps).toFixed(1)}`,
  );
}

/** A comparison as a user runs it, with five rounds. */
function standard() {
  const library = `library=${resolve(values.hami)},memory=${GIB_OF_TENANTS}GiB`;
  const systems = ['native', `hami-core:${library},sm=50`];
  const { seconds, status, document } = compare('compared-overhead-standard', systems, ['overhead', 'start-up']);
  verdict(
    'overhead and start-up, standard, five rounds under 10 min',
    seconds < 600 && status === 0,
    `${seconds.toFixed(0)} s; exit ${status}`,
  );
  const { effects, systems: rounds } = document();
  const bad = rounds
    .flat()
    .flatMap(({ system, metrics }) =>
      metrics.flatMap(({ id, status: state, reason }) =>
        state === 'failed' || state === 'invalid' ? [`${system.name}, ${id}: ${reason}`] : [],
      ),
    );
  verdict('no metric failed in any round', bad.length === 0, bad.join('; ') || `${rounds.flat().length} rounds`);
  for (const id of ['OH-004', 'OH-007', 'OH-009', 'START-001', 'START-002', 'START-006']) {
    const { verdict: found, ratio, ratioCi95, difference, differenceCi95 } = effects.find((one) => one.metric === id);
    const size = ratio === null ? [difference, differenceCi95] : [ratio, ratioCi95];
    verdict(`${id} is dearer under HAMi-core`, found === 'slower', `${found}: ${JSON.stringify(size)}`);
  }
}

export const overhead = [[values.hami, quick]];
export const standardTier = [[values.hami, standard]];
