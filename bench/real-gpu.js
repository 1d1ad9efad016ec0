// Records evidence on a real GPU and checks it. Every document is written before it is judged; the verdicts are
// DIR/summary.txt. Exit 1 when one of them is "no". A part takes some minutes; without --part all are done.
// Usage: node bench/real-gpu.js --tool ./gpu-virt-bench --out DIR [--part measuring,comparing,overhead,standard,reporting,layers,isolation,limits,controllers,llm,profiles,predictions,programs] [--probe FILE --ptx FILE]
//   [--interposer FILE] [--hami FILE] [--crippled FILE] [--vgpu FILE] [--patching FILE] [--python FILE] [--programs eager,graphs,training,jax] [--rounds N]
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { comparing } from './real-gpu/comparing.js';
import { hasFailed, lines, out, values, verdict } from './real-gpu/evidence.js';
import { computeLimits, controllersOfLimits, isolation } from './real-gpu/isolation.js';
import { layered } from './real-gpu/layers.js';
import { languageModels } from './real-gpu/llm.js';
import { measuring } from './real-gpu/measuring.js';
import { overhead, standardTier } from './real-gpu/overhead.js';
import { predictions, profiles } from './real-gpu/profiles.js';
import { programs } from './real-gpu/programs.js';
import { reporting } from './real-gpu/reporting.js';

const parts = {
  measuring,
  comparing,
  overhead,
  standard: standardTier,
  reporting,
  layers: layered,
  isolation,
  limits: computeLimits,
  controllers: controllersOfLimits,
  llm: languageModels,
  profiles,
  predictions,
  programs,
};
for (const name of values.part?.split(',') ?? Object.keys(parts)) {
  if (!Object.hasOwn(parts, name)) {
    console.error(`Expected --part to be of ${Object.keys(parts).join(', ')} but received ${name}.`);
    process.exit(2);
  }
  for (const [wanted, step] of parts[name]) {
    if (!wanted) continue;
    try {
      step();
    } catch (error) {
      verdict(step.name, false, String(error));
    }
  }
}

/** GPU, driver and version, from the first document that was written. */
function subject() {
  for (const file of readdirSync(out).filter((name) => name.endsWith('.json'))) {
    const document = JSON.parse(readFileSync(join(out, file), 'utf8'));
    const run = document.kind === 'comparison' ? document.systems.flat()[0] : document;
    if (run?.gpu?.[0]) return `${run.gpu[0].name}, driver ${run.driver.version}, gpu-virt-bench ${run.tool.version}`;
  }
  return 'no document names a GPU';
}

const header = `${new Date().toISOString()}  ${subject()}\nnode bench/real-gpu.js ${process.argv.slice(2).join(' ')}\n`;
writeFileSync(join(out, 'summary.txt'), `${header}\n${lines.join('\n')}\n`);
console.log(lines.join('\n'));
process.exitCode = hasFailed() ? 1 : 0;
