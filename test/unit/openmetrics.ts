/** A strict parser for the part of OpenMetrics 1.0 that gauges need; throws at the first line that breaks a rule. */
export interface Sample {
  labels: Record<string, string>;
  value: number;
}

export interface MetricFamily {
  type: string;
  help: string;
  unit: string;
  samples: Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?))$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/;

export function parseOpenMetrics(text: string): Map<string, MetricFamily> {
  if (!text.endsWith('# EOF\n')) throw new Error('Expected # EOF as the last line.');
  const lines = text.slice(0, -'# EOF\n'.length).split('\n');
  if (lines.pop() !== '') throw new Error('Expected every line to end.');
  const families = new Map<string, MetricFamily>();
  let current = '';
  for (const line of lines) current = readLine(families, current, line);
  for (const [name, { unit, type }] of families) {
    if (type === '') throw new Error(`${name} has no type.`);
    if (unit !== '' && !name.endsWith(`_${unit}`)) throw new Error(`${name} does not end in its unit ${unit}.`);
  }
  return families;
}

function readLine(families: Map<string, MetricFamily>, current: string, line: string): string {
  const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE|UNIT) (\S+) (.*)$/.exec(line) ?? [];
  if (keyword === undefined) {
    readSample(families, current, line);
    return current;
  }
  if (!NAME.test(name)) throw new Error(`${name} is no name.`);
  if (name !== current && families.has(name)) throw new Error(`${name} comes in two places.`);
  const family = families.get(name) ?? { type: '', help: '', unit: '', samples: [] };
  const key = keyword.toLowerCase() as 'type' | 'help' | 'unit';
  if (family[key] !== '' || family.samples.length > 0) throw new Error(`${line} comes late or twice.`);
  family[key] = rest;
  families.set(name, family);
  return name;
}

function readSample(families: Map<string, MetricFamily>, current: string, line: string): void {
  const [, name = '', labelText = '', value = ''] = SAMPLE.exec(line) ?? [];
  const family = families.get(name);
  if (name !== current || !family) throw new Error(`${line} is not in its family.`);
  const labels: Record<string, string> = {};
  for (let rest = labelText; rest !== '';) {
    const [whole = '', label = '', escaped = ''] = LABEL.exec(rest) ?? [];
    if (whole === '' || Object.hasOwn(labels, label)) throw new Error(`${rest} are no labels.`);
    labels[label] = escaped.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
    rest = rest.slice(whole.length);
  }
  const key = JSON.stringify(Object.entries(labels).sort());
  if (family.samples.some((sample) => JSON.stringify(Object.entries(sample.labels).sort()) === key))
    throw new Error(`${line} comes twice.`);
  family.samples.push({ labels, value: Number(value) });
}
