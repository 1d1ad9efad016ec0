/** What cards lack for want of a driver that takes the PTX, and of memory. Every card is in every-card.test.ts. */
import { describe, expect, it } from 'vitest';
import { measuredOn } from '../cards/measured.js';

describe('PTX that the driver does not take', () => {
  const rowOf = (details: Record<string, unknown>, number: string) =>
    (details.formats as { number: string; unsupported?: string }[]).find((row) => row.number === number);

  it('costs the FP8 row of LLM-008 with driver 525, and says which driver has it', async () => {
    const { metrics } = await measuredOn({ sim: 'card=l4,driver=525' }, ['LLM-008']);
    expect(metrics[0]?.status).toBe('ok');
    const { details } = metrics[0] as { details: Record<string, unknown> };
    expect(rowOf(details, 'fp8 e4m3')?.unsupported).toMatch(
      /CUDA 12\.0, .*PTX 8\.4; .*222.*CUDA 12\.4 or newer \(branch 550\)/,
    );
    for (const number of ['fp32', 'fp16', 'bf16']) expect(rowOf(details, number)).not.toHaveProperty('unsupported');
  });

  it('costs nothing with driver 550', async () => {
    const { metrics } = await measuredOn({ sim: 'card=l4,driver=550' }, ['LLM-008']);
    const { details } = metrics[0] as { details: Record<string, unknown> };
    expect(rowOf(details, 'fp8 e4m3')).not.toHaveProperty('unsupported');
  });

  it('costs only metrics with a kernel where the compiler is missing', async () => {
    const ids = ['OH-001', 'OH-002', 'LLM-008', 'START-004'];
    const { metrics } = await measuredOn({ sim: 'card=h200,jit=0' }, ids);
    const states = Object.fromEntries(metrics.map(({ id, status, reason }) => [id, [status, reason]]));
    const why = ['unsupported', expect.stringMatching(/221.*capability `compute`.*libnvidia-ptxjitcompiler\.so\.1/)];
    expect(states).toEqual({ 'OH-001': why, 'OH-002': ['ok', undefined], 'LLM-008': why, 'START-004': why });
  });
});

it('says what does not fit into a memory of 700 MiB', async () => {
  const { metrics } = await measuredOn({ sim: 'memory_mib=700' }, ['IS-010', 'LLM-009', 'BW-001', 'BW-003']);
  const reasons = Object.fromEntries(metrics.map(({ id, status, reason }) => [id, `${status}: ${reason}`]));
  const buffers = /^unsupported: the buffers of one process do not fit: .* allocating \d+ bytes of device memory/;
  expect(reasons).toEqual({
    'IS-010': expect.stringMatching(/^unsupported: two tenants do not fit: /),
    // Which is seen first depends on whether the processes of the metric before are gone.
    'LLM-009': expect.stringMatching(
      /^unsupported: (it needs 576 MiB of memory, the process may use \d+ MiB$|the weights do not fit: )/,
    ),
    'BW-001': expect.stringMatching(buffers),
    'BW-003': expect.stringMatching(buffers),
  });
});

/** Metrics that once failed, or were invalid, for want of memory. */
const SHORT = ['OH-001', 'OH-006', 'OH-010', 'BW-004', 'PCIE-003', 'ERR-002', 'IS-007', 'START-001'];

it.each(['memory_mib=256', 'memory_mib=512', 'memory_mib=700,context_mib=64'])(
  'has a number, or says what does not fit, with %s',
  async (sim) => {
    const { metrics } = await measuredOn({ sim }, SHORT);
    const said = metrics.map(({ id, status, reason = '' }) => [id, status, reason]);
    const wanted = SHORT.map((id) => [id, expect.stringMatching(/^(ok|unsupported|invalid)$/), expect.any(String)]);
    expect(said.sort()).toEqual(wanted.sort());
    for (const [, status, reason] of said) {
      if (status === 'unsupported') expect(reason).toMatch(/ fit|may be taken|needs a native arm/);
      // The machine of the tests may be busy.
      if (status === 'invalid') expect(reason).toMatch(/stop other programs and measure again/);
    }
  },
);

it('compares reports of memory with an allocation of what is left, or says what that takes', async () => {
  const [some, none] = await Promise.all(
    ['memory_mib=700', 'memory_mib=520'].map(async (sim) => (await measuredOn({ sim }, ['IS-013'])).metrics[0]),
  );
  expect(some).toMatchObject({ status: 'ok', value: 1 });
  expect(none).toMatchObject({
    status: 'unsupported',
    reason: expect.stringMatching(
      /^an allocation that reports can show takes 32 MiB; 1\d\.\d+ MiB were granted$/,
    ) as string,
  });
});
