// Writes sbom.cdx.json, the CycloneDX list of what the package consists of: dependencies that npm installs with it, and
// code of others that is inside it. It has neither time nor serial number, so that the same sources give the same file.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, temporaryFolder } from './packed.js';

/** The licences of the packages that became part of dist/. */
const LICENCES = ['packages.LICENSE.txt', 'report/charts/echarts.LICENSE.txt'];
const bundled = LICENCES.flatMap((file) =>
  [...readFileSync(join(root, 'dist', file), 'utf8').matchAll(/^(\S+) \d\S*, /gm)].map(([, name]) => name),
);
const inside = { name: 'gpu-virt-bench:inside', value: 'true' };

const json = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const { devDependencies, ...manifest } = json('package.json');
const lock = json('package-lock.json');
/** Development dependencies that become part of dist/ or of the native files. */
const INSIDE = Object.keys(devDependencies).filter((name) => name === 'node-addon-api' || bundled.includes(name));

/** Where the lock has a package that another one, at the path `from`, depends on. */
function pathOf(name, from) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (Object.hasOwn(lock.packages, path)) return path;
    if (folder === '') throw new Error(`Expected package-lock.json to have ${name}, which ${from} depends on.`);
  }
}

/** Paths of packages with all that they depend on. */
function withDependencies(names, from = '', all = new Set()) {
  for (const path of names.map((name) => pathOf(name, from))) {
    if (all.has(path)) continue;
    all.add(path);
    const { dependencies = {}, optionalDependencies = {} } = lock.packages[path];
    withDependencies(Object.keys({ ...dependencies, ...optionalDependencies }), path, all);
  }
  return all;
}

const embedded = withDependencies(INSIDE);
const isPartOf = (path, { dev, devOptional }) => (!dev && !devOptional) || embedded.has(path);
const referenceOf = (path) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${lock.packages[path].version}`;
const embeddedReferences = new Set([...embedded].map(referenceOf));

/** A manifest and a lock without development dependencies: npm sbom --omit=dev also omits what both kinds need. */
function manifestOfUsers() {
  const dependencies = { ...manifest.dependencies };
  for (const name of INSIDE) dependencies[name] = devDependencies[name];
  const own = { ...manifest, dependencies };
  const others = Object.entries(lock.packages).filter(([path, entry]) => path !== '' && isPartOf(path, entry));
  const packages = Object.fromEntries(others.map(([path, { dev: _dev, ...entry }]) => [path, entry]));
  return { 'package.json': own, 'package-lock.json': { ...lock, packages: { '': own, ...packages } } };
}

// npm names the whole after its folder.
const folder = join(temporaryFolder('gvb-sbom-'), manifest.name);
mkdirSync(folder);
for (const [file, content] of Object.entries(manifestOfUsers()))
  writeFileSync(join(folder, file), JSON.stringify(content));
const made = JSON.parse(run('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], folder));

/** The C++ library is linked statically; its version is that of the compiler that builds the prebuilds. */
const runtime = {
  'bom-ref': 'libstdc++',
  type: 'library',
  name: 'libstdc++',
  scope: 'required',
  properties: [inside],
  licenses: [{ expression: 'GPL-3.0-or-later WITH GCC-exception-3.1' }],
};
const { serialNumber: _serial, ...sbom } = made;
const { timestamp: _time, ...metadata } = sbom.metadata;
const components = [
  ...sbom.components.map((each) =>
    embeddedReferences.has(each['bom-ref']) ? { ...each, properties: [inside] } : each,
  ),
  runtime,
];
const dependencies = [
  ...sbom.dependencies.map((each) =>
    each.ref === metadata.component['bom-ref'] ? { ...each, dependsOn: [...each.dependsOn, runtime['bom-ref']] } : each,
  ),
  { ref: runtime['bom-ref'], dependsOn: [] },
];
writeFileSync(
  join(root, 'sbom.cdx.json'),
  `${JSON.stringify({ ...sbom, metadata, components, dependencies }, null, 2)}\n`,
);

const named = new Set(components.map(({ group, name }) => (group ? `${group}/${name}` : name)));
const missing = [...Object.keys(manifest.dependencies), ...bundled].filter((name) => !named.has(name));
if (missing.length > 0) throw new Error(`Expected the SBOM to name ${missing.join(', ')}.`);
console.log(`sbom.cdx.json: ${components.length} components, ${embedded.size + 1} of them inside the package.`);
