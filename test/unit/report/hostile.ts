/** Documents whose free text is anything that an attacker, or a careless driver, may write. */
import fc from 'fast-check';
import type { ComparisonDocument, RunDocument } from '../../../lib/results/document.js';
import { everyKind } from './fixtures.js';

export const nasty = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '=HYPERLINK("http://x","y")',
  '@SUM(1+1)|cmd',
  '-2+3',
  '+1',
  '| a | b |',
  '`code` ``` fence',
  '![image](http://x/y.png) [link](javascript:alert(1))',
  'https://example.test www.example.test',
  '# heading\n\n- list\n\n---\n\n> quote',
  '$x^2$ {b} {a|x} %s ${y}',
  'line one\nline two\r\nline three\u2028four',
  '\u001b[31mred\u001b[0m\u0000\u0007',
  '\u202egnirts\u202c \ufeff',
  '\\',
  '"quoted" \\"escaped\\"',
  ']]> --> <!-- <![CDATA[',
  '&amp; &lt; &#x27;',
  '__proto__',
  'constructor',
  '',
  ' ',
  'x'.repeat(5_000),
];

export const nastyText = fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: 'binary' }), fc.string());

/** A valid document in which `text` supplies every free text; systems keep distinct names. */
export function hostileDocument(text: (field: string) => string): ComparisonDocument {
  const document = everyKind();
  const names = new Map(document.plan.systems.map((name, index) => [name, `${text(`system ${index}`)}${index}`]));
  const renamed = (name: string) => names.get(name) ?? name;
  const round = (run: RunDocument): RunDocument => ({
    ...run,
    host: { ...run.host, cpu: text('cpu'), kernel: text('kernel') },
    gpu: run.gpu.map((gpu) => ({ ...gpu, name: text('gpu'), uuid: text('uuid') })),
    driver: { ...run.driver, version: text('driver'), libcuda: text('libcuda') },
    system: {
      ...run.system,
      name: renamed(run.system.name),
      settings: { LD_PRELOAD: text('setting') },
      spec: text('spec'),
      layer: { path: text('layer'), sha256: text('sha256'), exports: 1, active: false },
      attestation: [{ proof: text('proof'), passed: true, detail: text('detail') }],
    },
    metrics: run.metrics.map((result) => ({
      ...result,
      name: text(`name ${result.id}`),
      category: text('category'),
      unit: text(`unit ${result.id}`),
      estimator: text('estimator'),
      ...(result.reason !== undefined && { reason: text('reason') }),
      details: { [`key ${text('key')}`]: text('value') },
    })),
    warnings: [text('warning of a round')],
  });
  return {
    ...document,
    tool: { name: 'gpu-virt-bench', version: text('version') },
    plan: {
      ...document.plan,
      metrics: [text('metric'), ...document.plan.metrics],
      systems: document.plan.systems.map(renamed),
      order: document.plan.order.map((names_) => names_.map(renamed)),
    },
    systems: document.systems.map((rounds) => rounds.map(round)),
    effects: document.effects.map((effect) => ({
      ...effect,
      system: renamed(effect.system),
      baseline: renamed(effect.baseline),
    })),
    computeLimits: document.computeLimits.map((limit) => ({
      ...limit,
      system: renamed(limit.system),
      detail: text('load'),
    })),
    violations: [{ system: text('violator'), metric: text('violated'), detail: text('violation') }],
    warnings: [text('warning')],
  };
}

/** Texts for `documentOf`: short, so that a counterexample is readable. */
export const hostileTexts = fc.array(nastyText, { minLength: 1, maxLength: 12 });

/** The fields take the texts in turn, repeatedly. */
export function documentOf(texts: readonly string[]): ComparisonDocument {
  const known = new Map<string, string>();
  return hostileDocument((field) => {
    const text = known.get(field) ?? (texts[known.size % texts.length] as string);
    known.set(field, text);
    return text;
  });
}
