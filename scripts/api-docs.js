// Writes the pages of the library's functions and types to build/api/, from dist/index.d.ts. A warning is an error: a type
// that a public one names has to be exported as well.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'build/api');

const app = await Application.bootstrap({
  name: 'gpu-virt-bench',
  entryPoints: [join(root, 'dist/index.d.ts')],
  tsconfig: join(root, 'tsconfig.api.json'),
  readme: join(root, 'README.md'),
  // Links would lead to a compiled file.
  disableSources: true,
  treatWarningsAsErrors: true,
});
const project = await app.convert();
if (project) {
  app.validate(project);
  if (app.logger.errorCount + app.logger.warningCount === 0) await app.generateDocs(project, out);
}
process.exitCode = app.logger.errorCount + app.logger.warningCount === 0 ? 0 : 1;
