import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseThresholds } from '../../../lib/gate/thresholds-file.js';
import { interposerLibrary } from '../../../lib/native/load.js';
import { metricsOfWorkload } from '../../../lib/workloads/metrics/metrics-of-workload.js';
import { parseExecConfig } from '../../../lib/workloads/settings/exec-config.js';
import { publicSource } from '../../../lib/workloads/settings/read-workloads.js';
import { CHECKPOINT_DEFAULTS, DEFAULTS, type Workload } from '../../../lib/workloads/workload-type.js';
import { temporaryFolder } from '../../temporary.js';

const surroundings = { caller: { PATH: '/usr/bin' }, folder: '/work' };
const read = (text: string) => parseExecConfig(text, 'w.yaml', surroundings);
const one = (keys: string): Workload =>
  read(`workloads:\n  - name: w\n    argv: [prog]\n${keys}`).workloads[0] as Workload;
function refusal(text: string): string {
  try {
    read(text);
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
}
const refusalOf = (keys: string) => refusal(`workloads:\n  - name: w\n    argv: [prog]\n${keys}`);

describe('the file of docs/exec.md', () => {
  const page = readFileSync(new URL('../../../docs/exec.md', import.meta.url), 'utf8');
  const [file = '', load = '', checkpoint = '', thresholds = ''] = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(
    ([, yaml = '']) => yaml,
  );
  const [library] = /\/opt\S+libvgpu\.so/.exec(file) ?? [''];
  const own = join(temporaryFolder(), 'libvgpu.so');
  copyFileSync(interposerLibrary() as string, own);
  const { workloads, systems } = read(file.replace(library, own));

  it('is read, and says what the page says of it', () => {
    expect(systems.map(({ name }) => name)).toEqual(['native', 'hami-50']);
    expect(workloads.map(({ name }) => name)).toEqual([
      ...['1,dtype=fp16', '1,dtype=bf16', '8,dtype=fp16', '8,dtype=bf16'].map((label) => `decode@batch=${label}`),
      'server',
    ]);
    expect(workloads[0]).toMatchObject({
      argv: ['python', 'decode.py', '--batch', '1', '--dtype', 'fp16'],
      cwd: '/work/programs',
    });
  });

  it('has an example of a load, with thresholds for its metrics', () => {
    const found = read(load).workloads;
    expect(found.map(({ name, load: plan }) => [name, plan?.arrivals])).toEqual([
      ['llm@c=1', { loop: 'closed', concurrency: 1 }],
      ['llm@c=16', { loop: 'closed', concurrency: 16 }],
    ]);
    const definitions = found.flatMap((each) =>
      metricsOfWorkload(each, { caller: {}, logsOf: null, keepGoing: false }),
    );
    const [limit = ''] = /"llm@\*\/ttft-p99": \{.*?\}/.exec(page) ?? [];
    const { metrics } = parseThresholds(`metrics: { ${limit} }`, 'thresholds.yaml', definitions);
    for (const c of [1, 16]) expect(metrics.get(`llm@c=${c}/ttft-p99`)).toMatchObject({ limit: 500 });
    expect(metrics.get('llm@c=1/ttft')).not.toMatchObject({ limit: 500 });
  });

  it('has the defaults that it names', () => {
    const named = [...file.matchAll(/^ +(\w+): .*default (\d+)(?![%\d])/gm)].map(([, key, value]) => [
      key,
      Number(value),
    ]);
    const { coolDown, timeoutSeconds, ...others } = DEFAULTS;
    const all = {
      ...others,
      timeout: timeoutSeconds,
      pause: coolDown.pauseSeconds,
      most: coolDown.mostSeconds,
      degrees: coolDown.degrees,
      exit: 0,
    };
    expect(named.length).toBeGreaterThan(5);
    for (const [key, value] of named) expect([key, all[key as keyof typeof all]]).toEqual([key, value]);
  });

  it('has an example of checkpoints, with the defaults that it names', () => {
    const [given] = read(checkpoint).workloads;
    expect(given?.checkpoint).toEqual({
      repeat: CHECKPOINT_DEFAULTS.repeat,
      holdSeconds: 1,
      answer: { by: 'http', url: 'http://127.0.0.1:8000/health' },
    });
    const [short] = read(checkpoint.replace(/checkpoint:\n( {6}.*\n)+/, 'checkpoint: true\n')).workloads;
    expect(short?.checkpoint).toEqual({ ...given?.checkpoint, ...CHECKPOINT_DEFAULTS });
  });

  it('has thresholds for its metrics', () => {
    const definitions = workloads.flatMap((each) =>
      metricsOfWorkload(each, { caller: {}, logsOf: null, keepGoing: false }),
    );
    const { metrics } = parseThresholds(thresholds, 'thresholds.yaml', definitions);
    expect(metrics.get('decode@batch=8,dtype=fp16/tokens-per-second')?.regression).toEqual({ relative: 0.05 });
  });
});

describe('a checkpoint', () => {
  it.each([
    ['    checkpoint: true', 'together with ready but received it alone'],
    ['    ready: { port: 1 }\n    checkpoint: true\n    tenants: [{ task: transfer }]', 'a scene is not checkpointed'],
    ['    ready: { port: 1 }\n    checkpoint: { repeat: 0 }', 'an integer from 1 to 1000'],
  ])('is refused where it is %s', (text, message) => expect(refusalOf(text)).toContain(message));
});

describe('workloads of a file', () => {
  it('have defaults', () => {
    expect(one('')).toEqual({
      name: 'w',
      argv: ['prog'],
      cwd: '/work',
      env: {},
      passEnv: [],
      setup: [],
      teardown: [],
      ...DEFAULTS,
      exitCodes: [0],
      ready: null,
      stopAfterSeconds: null,
      load: null,
      metrics: [],
    });
  });

  it('have every key of the documentation', () => {
    const workload = one(`
    folder: sub
    env: { A: '1', B: two words }
    passEnv: [HF_HOME]
    setup: [[make, model], [touch, x]]
    teardown: [rm, x]
    warmup: 0
    iterations: 7
    timeout: 1.5
    exit: [0, 3]
    coolDown: { pause: 2, most: 0, degrees: 3.5 }
    ready: { line: 'listening on' }
    stopAfter: 0
    metrics:
      tps: { regex: '([0-9.]+) tokens/s', unit: tokens/s, direction: higher, delta: 3%, take: median }
      left: { json: /a/0, file: out.json, unit: items, direction: none, delta: 0.5 }
      ttft: { jsonl: '', from: stderr, unit: ms, direction: lower }
`);
    expect(workload).toMatchObject({
      cwd: '/work/sub',
      env: { A: '1', B: 'two words' },
      passEnv: ['HF_HOME'],
      setup: [
        ['make', 'model'],
        ['touch', 'x'],
      ],
      teardown: [['rm', 'x']],
      warmup: 0,
      iterations: 7,
      timeoutSeconds: 1.5,
      exitCodes: [0, 3],
      coolDown: { pauseSeconds: 2, mostSeconds: 0, degrees: 3.5 },
      ready: { by: 'line', text: 'listening on' },
      stopAfterSeconds: 0,
    });
    expect(workload.metrics).toMatchObject([
      { key: 'tps', from: 'stdout', take: 'median', direction: 'higher', delta: { relative: 0.03 } },
      { key: 'left', from: { file: 'out.json' }, pick: { by: 'json', pointer: '/a/0' }, delta: { absolute: 0.5 } },
      { key: 'ttft', from: 'stderr', pick: { by: 'jsonl', pointer: '' }, take: 'last', delta: { relative: 0.02 } },
    ]);
  });

  it('are beside systems', () => {
    expect(read('systems: [native]\nworkloads: [{ name: w, argv: [p] }]').systems.map(({ name }) => name)).toEqual([
      'native',
    ]);
  });

  it.each([
    ["ready: { port: '8000' }", { by: 'port', port: 8000 }],
    ["ready: { http: 'http://127.0.0.1:8000/health' }", { by: 'http', url: 'http://127.0.0.1:8000/health' }],
    ['ready: { file: done }', { by: 'file', path: 'done' }],
  ])('are ready by %s', (text, ready) => expect(one(`    ${text}`).ready).toEqual(ready));

  it('keep no secret for others to read', () => {
    const { sources } = read('workloads: [{ name: w, argv: [p], env: { HF_TOKEN: abc, LEVEL: x } }]');
    const kept = publicSource(sources[0] as (typeof sources)[number]);
    expect(kept.settings.env).toEqual({ HF_TOKEN: '(not recorded)', LEVEL: 'x' });
  });
});

describe('a file of workloads is refused', () => {
  it.each([
    ['', 'w.yaml:1:1: Expected a map with the keys workloads and systems.'],
    ['systems: [native]', 'w.yaml:1:1: Expected workloads of the configuration to be a list of workloads.'],
    ['workloads: []', 'w.yaml:1:12: Expected workloads of the configuration to be a list of workloads.'],
    ['workloads: [prog]', 'w.yaml:1:13: Expected a workload to be a map with the keys name and argv.'],
    ['workloads: [{ argv: [p] }]', 'w.yaml:1:13: Expected the workload to have name: at most 40'],
    ['workloads: [{ name: w }]', 'w.yaml:1:13: Expected w to have argv, the program and its arguments as a list.'],
    ['workloads: [{ name: w, argv: p }]', 'Expected argv of w to be a command as a list of arguments but received'],
    [
      'workloads: [{ name: ../w, argv: [p] }]',
      "at most 40 letters, digits and . _ + -, the first a letter or digit but received '../w'.",
    ],
    [
      'workloads: [{ name: w, argv: [p], wramup: 1 }]',
      "Expected a key of the workload but received 'wramup': did you mean warmup?",
    ],
    [
      'workloads: [{ name: w, argv: [p] }, { name: W, argv: [p] }]',
      "Expected workloads of different names but received 'W' twice.",
    ],
    ['workloads: &a [*a]', "w.yaml:1:16: Expected YAML but the alias 'a' contains itself."],
    [
      'workloads: [&w { name: w, argv: [p], env: *w }]',
      "w.yaml:1:43: Expected YAML but the alias 'w' contains itself.",
    ],
    ['workloads: [{ name: w, argv: [p] ', 'w.yaml:1:34: Expected YAML but'],
  ])('%s', (text, message) => expect(refusal(text)).toContain(message));

  it.each([
    ['warmup: -1', 'Expected warmup of w to be an integer from 0 to 10000 but received -1.'],
    ['iterations: 0', 'Expected iterations of w to be an integer from 1 to 100000 but received 0.'],
    ['timeout: 0', 'Expected timeout of w to be a number of seconds above 0 and up to 86400 but received 0.'],
    ['timeout: 1e9', 'Expected timeout of w to be a number of seconds above 0 and up to 86400'],
    ['exit: 256', 'Expected exit of w to be an exit code from 0 to 255, or a list of them but received 256.'],
    ['env: { LD_PRELOAD: /x.so }', 'LD_PRELOAD is set by it; preload a library with a custom system instead.'],
    ['passEnv: [GVB_WITNESS]', 'GVB_WITNESS is set by it'],
    [
      'ready: { line: a, port: 1 }',
      'Expected ready of w to have one of line, port, http and file but received line and port.',
    ],
    [
      'ready: { http: file:///etc/passwd }',
      'Expected http of ready of w to be a URL such as http://127.0.0.1:8000/health',
    ],
    ['ready: { port: 70000 }', 'Expected port of ready of w to be an integer from 1 to 65535'],
    ['stopAfter: 1', 'Expected stopAfter of w together with ready but received it alone'],
    ['coolDown: { most: never }', 'Expected most of coolDown of w to be a number of seconds'],
  ])('for %s', (text, message) => expect(refusalOf(`    ${text}`)).toContain(message));

  it.each([
    [
      '{ unit: s, direction: lower }',
      'Expected m of metrics of w to have one of regex, json and jsonl but received none.',
    ],
    [
      "{ regex: '(', unit: s, direction: lower }",
      'Expected regex of m of metrics of w to be a regular expression but received ',
    ],
    ['{ regex: a+, unit: s, direction: lower }', 'to have a group around the number but received none'],
    ['{ json: a/b, unit: s, direction: lower }', 'Expected json of m of metrics of w to be a JSON pointer'],
    ['{ json: /a, jsonl: /b, unit: s, direction: lower }', 'but received json and jsonl.'],
    ['{ json: /a, direction: lower }', 'Expected m of metrics of w to have unit: a text of at most 20'],
    ['{ json: /a, unit: s }', 'Expected m of metrics of w to have direction: lower, higher or none.'],
    ['{ json: /a, unit: s, direction: up }', 'Expected direction of m of metrics of w to be lower, higher or none'],
    ['{ json: /a, unit: s, direction: lower, delta: 0% }', 'to be a percentage such as 2%, or a number above 0'],
    ['{ json: /a, unit: s, direction: lower, from: stdout, file: f }', 'Expected from or file of'],
    ['nothing', 'Expected m of metrics of w to be a map of keys to values'],
  ])('for the metric %s', (metric, message) => {
    expect(refusalOf(`    metrics:\n      m: ${metric}`)).toContain(message);
  });

  it.each(['cost-per-request', 'cost-per-million-tokens.x', 'energy-per-token'])(
    'for a metric named %s, which is computed',
    (name) =>
      expect(refusalOf(`    metrics: { ${name}: { regex: '(x)', unit: x, direction: none } }`)).toContain(
        `${name} is computed of every program that has its inputs`,
      ),
  );

  it.each([
    [
      'unit: GB, direction: higher, per: step',
      "the unit to end in /s, to be ns, us, ms or s, or to be count but received 'GB'.",
    ],
    [
      'unit: images/s, direction: lower, per: request',
      'the direction of a rate to be higher, and of a time lower, but received lower.',
    ],
    ['unit: s, direction: higher, per: step', 'but received higher.'],
    [
      'unit: s, direction: lower, per: stop',
      "to be token, request, step or none but received 'stop': did you mean step?",
    ],
  ])('for a metric with %s', (keys, message) =>
    expect(refusalOf(`    metrics: { a: { regex: '(x)', ${keys} } }`)).toContain(message),
  );

  it.each(['wall', 'energy'])('for a metric named %s, which every program has', (name) => {
    expect(refusalOf(`    metrics: { ${name}: { json: /a, unit: s, direction: lower } }`)).toContain(
      `${name} is measured of every program.`,
    );
  });
});

describe('a matrix', () => {
  const matrix = (keys: string) =>
    `workloads:\n  - name: w\n    argv: [prog, '--batch={batch}', '{"batch": 1}', '{other}']\n${keys}`;

  it('makes a workload for every combination, and leaves other braces alone', () => {
    const { workloads } = read(
      matrix("    env: { P: '{precision}' }\n    matrix: { batch: [1, 8], precision: [fp16, int 4] }"),
    );
    expect(workloads.map(({ name, argv, env }) => [name, argv[1], argv[2], argv[3], env.P])).toEqual([
      ['w@batch=1,precision=fp16', '--batch=1', '{"batch": 1}', '{other}', 'fp16'],
      ['w@batch=1,precision=int_4', '--batch=1', '{"batch": 1}', '{other}', 'int 4'],
      ['w@batch=8,precision=fp16', '--batch=8', '{"batch": 1}', '{other}', 'fp16'],
      ['w@batch=8,precision=int_4', '--batch=8', '{"batch": 1}', '{other}', 'int 4'],
    ]);
  });

  it.each([
    ['matrix: { batch: [1], depth: [1, 2] }', "to have parameters that are used but received 'depth': write {depth}"],
    ['matrix: { batch: 1 }', 'a map of parameters to lists of values but received a map: batch is no such list.'],
    ['matrix: { batch: [] }', 'batch is no such list.'],
    ['matrix: { batch: [a b, a_b] }', 'Expected every combination to have its own name but received batch=a_b twice.'],
    ['matrix: {}', 'Expected matrix of w to be a map of parameters to lists of values'],
    [
      `matrix: { batch: [${Array.from({ length: 201 }, (_, i) => i).join(', ')}] }`,
      'at most 200 combinations but received 201',
    ],
  ])('is refused where it is %s', (text, message) => expect(refusal(matrix(`    ${text}`))).toContain(message));
});
