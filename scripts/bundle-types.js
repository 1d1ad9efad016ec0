// Joins the compiled types of dist/ into dist/index.d.ts: what users import, and only that. A type that is inferred from a
// schema becomes the plain type that it stands for, with the schema's descriptions as comments.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { isPackage } from './bundle-program.js';
import { declarationOf, namedIn } from './schema-types.js';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

const inferred = /^export type (\w+) = v\.InferOutput<typeof \w+>;$/gm;
const declared = /^export (?:type|interface) (\w+)\b/gm;
/** Types that follow from the names in a table, or from a list. */
const listed = /^export type (\w+) = (?:keyof typeof (\w+)|\(typeof (\w+)\)\[number\]);$/gm;
/** The definition and the function of a metric, as the compiler declares them. */
const definition = /^export declare const \w+: MetricDefinition<(\w+)>;$/m;
const measuring = /^export declare const (\w+): \(options\?[^]*?^}.*;$/m;

const namesIn = (code) => [...code.matchAll(declared)].map(([, name]) => name);

/** Path from which a file imports another one. */
function importPath(file, target) {
  const path = relative(dirname(file), target).replace(/\.d\.ts$/, '.js');
  return path.startsWith('.') ? path : `./${path}`;
}

const load = (name) => import(`../dist/${name}.js`);

/** The metric that a file defines, with the name of the type of its details; null for other files. */
function metricIn(code, metrics) {
  const [name, details] = [measuring.exec(code)?.[1], definition.exec(code)?.[1]];
  return name && details ? { ...metrics.find(({ functionName }) => functionName === name), type: details } : null;
}

/** Declares the function by the name of its details; its own comment stays before it. */
function withFunction(code, file, metric) {
  if (metric === null) return code;
  const { functionName, type } = metric;
  const from = (path, what) => `import('${importPath(file, join(dist, path))}').${what}`;
  const result = from(
    'results/document.d.ts',
    `MetricResult<${type} & ${from('metrics/core/details.d.ts', 'CommonDetails')}>`,
  );
  return code.replace(
    measuring,
    `export declare function ${functionName}(options?: ${from('metrics/core/metric.d.ts', 'MeasureOptions')}): Promise<${result}>;`,
  );
}

/** Puts plain types in place of inferred ones, and imports those that they name from the files that declare them. */
function withPlainTypes(code, file, schemas, fileOf) {
  const used = new Set();
  const plain = code.replace(inferred, (line, name) => {
    const schema = schemas.get(name);
    if (!schema) return line;
    for (const each of namedIn([schema]).keys()) used.add(each);
    return declarationOf(name, schema);
  });
  const own = new Set(namesIn(plain));
  const imports = [...used]
    .filter((name) => !own.has(name))
    .map((name) => `import type { ${name} } from '${importPath(file, fileOf.get(name))}';\n`);
  return imports.join('') + plain;
}

/** Writes out types that are the names or the items of a value. */
async function withLiterals(code, file) {
  if (code.search(listed) === -1) return code;
  const values = await import(file.replace(/\.d\.ts$/, '.js'));
  return code.replace(listed, (line, name, table, list) => {
    const words = table ? values[table] && Object.keys(values[table]) : values[list];
    return words ? `export type ${name} = ${words.map((word) => JSON.stringify(word)).join(' | ')};` : line;
  });
}

/** Functions that are loaded on demand have the declarations and comments of those that they load. */
const withDeclarations = (code, file) =>
  file === join(dist, 'metrics/functions.d.ts')
    ? `export * from './all-functions.js';\n${code.match(/^export type .*$/gm).join('\n')}\n`
    : code;

/** After the compiler, before the modules are joined: imports the compiled modules one by one. */
export async function bundleTypes() {
  const [{ metrics }, { comparisonDocumentSchema }, { commonDetails }] = await Promise.all(
    ['metrics/registry', 'results/document', 'metrics/core/details'].map(load),
  );
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => {
      const file = join(dist, name);
      const code = withDeclarations(readFileSync(file, 'utf8'), file);
      return { file, code, metric: metricIn(code, metrics) };
    });
  const schemas = new Map([
    ...namedIn([comparisonDocumentSchema, commonDetails]),
    ...files.flatMap(({ metric }) => (metric === null ? [] : [[metric.type, metric.details]])),
  ]);
  const fileOf = new Map(files.flatMap(({ file, code }) => namesIn(code).map((name) => [name, file])));
  for (const { file, code, metric } of files) {
    const plain = withPlainTypes(withFunction(code, file, metric), file, schemas, fileOf);
    writeFileSync(file, await withLiterals(plain, file));
  }

  const bundle = await rollup({ input: join(dist, 'index.d.ts'), plugins: [dts()], external: isPackage });
  const { output } = await bundle.generate({ format: 'es' });
  await bundle.close();
  const [{ code }, ...others] = output;
  if (others.length > 0 || code.includes("from 'valibot'"))
    throw new Error(
      'Expected one file of types without schemas. Give the schema behind a public type its name (named).',
    );
  for (const { file } of files) rmSync(file);
  const style = await resolveConfig(join(dist, 'index.d.ts'));
  writeFileSync(join(dist, 'index.d.ts'), await format(code, { ...style, parser: 'typescript' }));
}
