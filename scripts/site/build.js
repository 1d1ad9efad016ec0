// Writes the documentation as one static site to build/site/, with typedoc: the pages of the API from dist/index.d.ts, the
// Markdown pages, and a page per metric with a picture from a record of a real GPU. It has a search over all text, opens
// from a folder and needs no network. A warning is an error: a dead link, or a type that a public one names and that is
// not exported.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, Converter, IndexEvent, KindRouter, MarkdownEvent, OptionDefaults } from 'typedoc';
import { metricRecords } from './metric-records.js';
import { categoryTitles, fileOf, groupNames, homeFile, METRICS, metrics, pages, root, writePages } from './pages.js';
import { withPictures } from './pictures.js';
import { styleSheet } from './style-sheet.js';

const out = join(root, 'build/site');
const customCss = join(root, 'build/site-pages/site.css');

writePages();
writeFileSync(customCss, styleSheet());
const records = await metricRecords(metrics);

const app = await Application.bootstrap({
  name: 'gpu-virt-bench',
  entryPoints: [join(root, 'dist/index.d.ts')],
  tsconfig: join(root, 'tsconfig.api.json'),
  readme: homeFile,
  projectDocuments: pages.map(({ file }) => file),
  customCss,
  searchInDocuments: true,
  searchInComments: true,
  searchGroupBoosts: Object.fromEntries(groupNames.map((name) => [name, 2])),
  groupOrder: [...groupNames, 'Functions', '*'],
  categoryOrder: categoryTitles,
  categorizeByGroup: true,
  navigation: { includeGroups: true, includeCategories: true },
  highlightLanguages: [...OptionDefaults.highlightLanguages, 'python'],
  // Functions and types stand beside the pages, not in a module.
  alwaysCreateEntryPointModule: false,
  // Links would lead to a compiled file.
  disableSources: true,
  githubPages: false,
  treatWarningsAsErrors: true,
});

/** Makes the bold ids of docs/metrics.md lead to their pages, which only the site has. */
function linkMetrics(content, files) {
  const text = (part) => ({ kind: 'text', text: part });
  const linkTo = (id) => [
    text(`[${id}](`),
    { kind: 'relative-link', text: fileOf(id), ...files.registerAbsolute(fileOf(id)) },
    text(')'),
  ];
  return content.flatMap((part) =>
    part.kind === 'text'
      ? part.text
          .split(/(?<=\| )\*\*([A-Z]+-\d{3})\*\*/)
          .flatMap((piece, i) => (i % 2 === 0 ? text(piece) : linkTo(piece)))
      : part,
  );
}

app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
  const { files } = document.project;
  const file = files.getReflectionPath(document);
  const place = pages.findIndex((page) => page.file === file);
  const { name, group, category, slug } = pages[place];
  document.name = name;
  Object.assign(document.frontmatter, { group, slug, place, ...(category && { category }) });
  // Links have the anchors of GitHub, which keep a hyphen for each of several spaces.
  for (const part of document.content)
    if (part.kind === 'relative-link' && part.targetAnchor) part.targetAnchor = part.targetAnchor.replace(/-+/g, '-');
  if (slug === 'metrics') document.content = linkMetrics(document.content, files);
});

/** Puts pages into their own order after the groups are made; typedoc sorts by name. */
const placeOf = ({ frontmatter }) => frontmatter?.place ?? 0;
app.converter.on(
  Converter.EVENT_RESOLVE_END,
  ({ project }) => {
    for (const group of project.groups)
      for (const { children } of [group, ...(group.categories ?? [])]) children.sort((a, b) => placeOf(a) - placeOf(b));
  },
  -1_000,
);

/** Pages are named after their files. */
class Router extends KindRouter {
  getIdealBaseName(reflection) {
    return reflection.isDocument() ? `documents/${reflection.frontmatter.slug}` : super.getIdealBaseName(reflection);
  }
}
app.renderer.defineRouter('site', Router);
app.options.setValue('router', 'site');

/**
 * Puts the id of a metric at the end of its name while the search index is made: typedoc ranks what begins with the searched
 * text by the length of the rest.
 */
app.renderer.on(IndexEvent.PREPARE_INDEX, ({ searchResults }) => {
  // Keeps the names that the navigation has.
  app.renderer.theme.getNavigation(searchResults[0].project);
  const found = searchResults.filter(({ frontmatter }) => frontmatter?.group === METRICS);
  const names = found.map(({ name }) => name);
  for (const page of found) page.name = page.name.replace(/^(\S+) (.*)$/, '$2 ($1)');
  // The index is made before anything else runs.
  process.nextTick(() => found.forEach((page, i) => (page.name = names[i])));
});

app.renderer.on(MarkdownEvent.PARSE, (event) => {
  event.parsedText = withPictures(event.parsedText, records);
});

const complaints = () => app.logger.errorCount + app.logger.warningCount;
const project = await app.convert();
if (project) {
  app.validate(project);
  if (complaints() === 0) await app.generateDocs(project, out);
}
process.exitCode = complaints() === 0 ? 0 : 1;
