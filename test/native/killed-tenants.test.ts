/** Tenants that something else kills while a metric looks for the effects of faults. */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../lib/metrics/isolation/shared/faults.js';
import { faultIsolationBy } from '../../lib/metrics/isolation/is-010-fault-isolation.js';
import { noisyNeighborBy } from '../../lib/metrics/isolation/is-009-noisy-neighbor.js';
import { MENU } from '../../lib/metrics/isolation/shared/aggressor-menu.js';
import type { Crash } from '../../lib/metrics/error-recovery/crashes.js';
import { errorRecoveryBy } from '../../lib/metrics/error-recovery/err-002-error-recovery.js';
import { measureMetric } from '../../lib/metrics/core/measure.js';
import type { MetricDefinition } from '../../lib/metrics/core/metric.js';
import { runProbe } from '../../lib/metrics/compatibility/probe-process.js';
import { loadAddon } from '../../lib/native/load.js';
import type { System, Tenant } from '../../lib/systems/system.js';
import type { LaunchedProcess, Launcher } from '../../lib/workers/launcher.js';
import { localStart } from '../../lib/workers/local.js';
import { metricNamed } from '../metric-named.js';
import { emptyFolder } from './child.js';
import { environmentUnder } from './measured.js';

const measure = (id: string, by: MetricDefinition['measure'], system = environmentUnder(null)) =>
  measureMetric({ ...metricNamed(id), measure: by }, { simulate: true, seed: 1, tier: 'quick' }, { system });

/** A fault that does no harm, beside which something else may do some. */
const harmless = (meanwhile: (stage: Parameters<Fault['raise']>[0], time: number) => Promise<void>): Fault => {
  let times = 0;
  return {
    ...{ name: 'nothing', expectedCode: 'nothing', hasXid: false },
    raise: async (stage) => {
      await meanwhile(stage, ++times);
      return 'nothing';
    },
  };
};

const killVictim = harmless.bind(null, async ({ victim }, time) => {
  if (time > 1) return;
  victim.tenant.signal('SIGKILL');
  await victim.tenant.exit;
});

describe('IS-010', () => {
  it('is invalid, without a violation, if the victim died once and not again beside the same fault', async () => {
    const result = await measure('IS-010', faultIsolationBy({ rounds: 1, faults: [killVictim()] }));
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.violations).toBeUndefined();
    expect(result.reason).toBe(
      'every death was seen again when its fault was raised again: nothing: the victim: The worker process was killed by SIGKILL, and not again',
    );
    expect(result.details.faults).toMatchObject([{ fault: 'nothing', unexplained: [{ who: 'victim' }] }]);
  });

  it('has a violation if the victim dies beside the fault again', async () => {
    const always = harmless(async ({ victim }) => {
      victim.tenant.signal('SIGKILL');
      await victim.tenant.exit;
    });
    const result = await measure('IS-010', faultIsolationBy({ rounds: 1, faults: [always] }));
    expect(result).toMatchObject({ status: 'ok', value: 0 });
    expect(result.violations).toMatchObject([
      { detail: 'nothing: its neighbour: The worker process was killed by SIGKILL.' },
    ]);
  });

  it('is invalid if no fault was raised, because no tenant started', async () => {
    const system = environmentUnder(null);
    const prepareTenant = (tenant: Tenant) =>
      tenant.id > 1 ? Promise.reject(new Error('there is no room')) : system.prepareTenant(tenant);
    const plan = { rounds: 1, faults: [harmless(() => Promise.resolve())] };
    const result = await measure('IS-010', faultIsolationBy(plan), { ...system, prepareTenant });
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toBe(
      'every fault really happened: 0 of 1 were raised: no tenant could be started: there is no room',
    );
  });
});

/** The system with processes that `started` gets as they start. */
function watched(started: (process: LaunchedProcess) => void): System {
  const system = environmentUnder(null);
  const start: Launcher['start'] = (...args) => {
    const process = system.launcher.start(...args);
    started(process);
    return process;
  };
  return { ...system, launcher: { ...system.launcher, start } };
}

describe('IS-009', () => {
  it('is invalid if an aggressor was killed', async () => {
    const system = watched((process) => {
      const { stdin } = process;
      const write = stdin.write.bind(stdin) as (text: string) => boolean;
      stdin.write = ((text: string) => {
        if (text.includes('"aggressor"')) process.signal('SIGKILL');
        return write(text);
      }) as typeof stdin.write;
    });
    const times = { aloneMs: 200, togetherMs: 400, aggressorAloneMs: 400, together: 1 };
    const plan = { menu: MENU.slice(0, 1), times, traceMs: 100 };
    const result = await measure('IS-009', noisyNeighborBy(plan), system);
    expect(result).toMatchObject({ status: 'invalid', value: null, details: { interference: [{ died: true }] } });
    expect(result.reason).toMatch(/^no aggressor died: .*: The worker process was killed by SIGKILL\./);
  });
});

describe('ERR-002', () => {
  it('is invalid if one process that was started in place of another was killed', async () => {
    let kills = 0;
    let isNext = false;
    const system = watched((process) => {
      if (isNext) process.signal('SIGKILL');
      isNext = false;
    });
    const kill: Crash = {
      ...{ name: 'a kill', expected: 'SIGKILL', hasXid: false },
      happen: async (tenant) => {
        const atNs = loadAddon().now();
        tenant.signal('SIGKILL');
        const { signal } = await tenant.exit;
        isNext = ++kills === 1;
        return { what: signal, atNs };
      },
    };
    const result = await measure('ERR-002', errorRecoveryBy({ patienceMs: 60_000, kills: [kill] }), system);
    expect(result).toMatchObject({ status: 'invalid', value: null });
    expect(result.reason).toMatch(
      /^no successor died only once: after a kill: The worker process was killed by SIGKILL/,
    );
  });
});

describe('a probe', () => {
  const options = { deadlineMs: 60_000, signal: new AbortController().signal };
  const start = localStart({ PATH: process.env.PATH });
  /** Ends itself by a signal as long as its mark is missing. */
  const script = (marks: number) => `n=$(ls | wc -l); if [ $n -lt ${marks} ]; then touch $n; kill -9 $$; fi; exit 0`;
  const probe = (marks: number) => ['sh', '-c', `cd ${emptyFolder()} && ${script(marks)}`];

  it('that was killed once is run again, and the first end is kept', async () => {
    const seen = await runProbe(start, probe(1), options);
    expect(seen).toMatchObject({ ending: { exitCode: 0 }, unrepeated: 'was killed by SIGKILL' });
  });

  it('that is killed twice has crashed', async () => {
    const seen = await runProbe(start, probe(2), options);
    expect(seen).toMatchObject({ ending: { signal: 'SIGKILL' }, unrepeated: null });
  });
});
