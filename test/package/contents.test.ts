import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { packedPackage } from '../helpers/packed-package.ts';

/** Files that users, tools and other files name. The rest of `dist/` is imported by these. */
const NAMED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'demo/loyalty.csv',
  'demo/public/images/hero-kiln.svg',
  'demo/public/images/hero-shelf.svg',
  'demo/workspace.json',
  'deploy/Caddyfile',
  'deploy/Containerfile',
  'deploy/chart/Chart.yaml',
  'deploy/chart/templates/_helpers.tpl',
  'deploy/chart/templates/deployment.yaml',
  'deploy/chart/templates/ingress.yaml',
  'deploy/chart/templates/pod-disruption-budget.yaml',
  'deploy/chart/templates/services.yaml',
  'deploy/chart/values.schema.json',
  'deploy/chart/values.yaml',
  'deploy/compose.yaml',
  'deploy/grafana-dashboard.json',
  'deploy/nginx.conf',
  'deploy/placard.service',
  'deploy/prometheus-alerts.yaml',
  'dist/devtools.d.ts',
  'dist/devtools.js',
  'dist/element-react.d.ts',
  'dist/element-react.js',
  'dist/element-vue.d.ts',
  'dist/element-vue.js',
  'dist/element.d.ts',
  'dist/element.js',
  'dist/index.d.ts',
  'dist/index.js',
  'dist/ingestion-files.js',
  'dist/licenses-script.md',
  'dist/licenses.md',
  'dist/placard-all.global.js',
  'dist/placard.global.js',
  'dist/placard.js',
  'dist/react.d.ts',
  'dist/react.js',
  'dist/server.d.ts',
  'dist/server.js',
  'dist/service-worker.d.ts',
  'dist/service-worker.js',
  'dist/service.d.ts',
  'dist/service.js',
  'dist/sqlite-checkpoint.js',
  'dist/sqlite-job.js',
  'dist/sqlite-writer.js',
  'dist/studio-pages/index.html',
  'dist/studio-pages/licenses.md',
  'dist/studio-pages/mark.svg',
  'dist/studio-pages/preview.html',
  'dist/templates.d.ts',
  'dist/templates.js',
  'dist/testing.d.ts',
  'dist/testing.js',
  'dist/vue.d.ts',
  'dist/vue.js',
  'dist/webview.d.ts',
  'dist/webview.js',
  'dist/workspace.schema.json',
  'llms.txt',
  'package.json',
];
/** Shared or lazily loaded chunk. */
const CHUNK = /^dist\/shared-[\w-]+\.(?:js|d\.ts)$/;
/** Script or style of the Studio pages, with a content hash in its name. */
const STUDIO_ASSET = /^dist\/studio-pages\/assets\/[\w.-]+\.(?:js|css)$/;

let folder: string;
let files: string[];
let manifest: { dependencies: Record<string, string>; peerDependencies: Record<string, string> };
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const IMPORTS =
  /(?:^(?:import|export)\b[^"';]* from |^import |\bimport\(|\b__require\()\s*["']([\w@./:-]+)["']/gm;
/** JSDoc comment. Removed before matching, because examples contain imports. */
const COMMENT = /^\s*\/\*\*[\s\S]*?\*\//gm;
/** All import specifiers of a built file or declaration. */
const getImports = (file: string): string[] =>
  [...read(file).replace(COMMENT, '').matchAll(IMPORTS)].map(([, specifier]) => specifier!);

const isOfNode = (specifier: string) => specifier.startsWith('node:') || builtinModules.includes(specifier);

beforeAll(async () => {
  ({ folder } = await packedPackage());
  files = globSync(['**/*.*', 'deploy/C*file'], { cwd: folder }).concat('LICENSE').sort();
  manifest = JSON.parse(read('package.json'));
});

describe('the packed package', () => {
  test('contains only the listed files, their chunks and the pages of docs/', () => {
    const others = [CHUNK, STUDIO_ASSET, /^docs\/(?:quickstart|guides|reference|concepts)\/[\w-]+\.md$/];
    const unnamed = files.filter((file) => !others.some((each) => each.test(file)));
    expect(unnamed).toEqual(NAMED);
  });

  test('contains the images of the banners in the quick start', () => {
    const { campaigns } = JSON.parse(read('demo/workspace.json')) as {
      campaigns: { placements: string[]; variants: { properties: Record<string, { value?: string }> }[] }[];
    };
    const images = campaigns
      .filter(({ placements }) => placements.includes('home_hero'))
      .flatMap(({ variants }) => variants.flatMap(({ properties }) => properties['image']?.value ?? []));
    expect(images.length).toBeGreaterThan(0);
    for (const image of images) expect(files).toContain(`demo/public${image}`);
  });

  test('does not contain unused chunks', () => {
    const imported = new Set(
      files
        .filter((file) => /\.(?:js|d\.ts)$/.test(file))
        .flatMap(getImports)
        .map((specifier) => specifier.replace(/^\.\//, 'dist/')),
    );
    const isImported = (file: string) => imported.has(file) || imported.has(file.replace('.d.ts', '.js'));
    expect(files.filter((file) => CHUNK.test(file) && !isImported(file))).toEqual([]);
  });

  test('imports only its dependencies and modules of Node, in code and types', () => {
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    const isDeclared = (specifier: string) =>
      declared.some((name) => specifier === name || specifier.startsWith(`${name}/`));
    const others = files
      .filter((file) => /^dist\/.*\.(?:js|d\.ts)$/.test(file) && !file.endsWith('.global.js'))
      .flatMap((file) => getImports(file).map((specifier) => `${file} → ${specifier}`))
      .filter((line) => !/ → \./.test(line))
      .filter((line) => !isDeclared(line.split(' → ')[1]!) && !isOfNode(line.split(' → ')[1]!));
    // pg imports pg-native only on request, and we do not use it.
    expect(others.filter((line) => !line.endsWith(' → pg-native'))).toEqual([]);
  });

  test.each([
    'index',
    'element',
    'react',
    'vue',
    'templates',
    'webview',
    'devtools',
    'service-worker',
    'testing',
  ])('does not import Node modules from its entry %s, which runs in browsers', (entry) => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      if (!file.startsWith('dist/')) return;
      for (const specifier of getImports(file)) visit(specifier.replace(/^\.\//, 'dist/'));
    };
    visit(`dist/${entry}.js`);
    expect([...reached].filter(isOfNode)).toEqual([]);
  });

  test('contains the license of every bundled package', () => {
    const bundled = new Set(
      files
        .filter((file) => /^dist\/.*\.js$/.test(file))
        .flatMap((file) => [...read(file).matchAll(/^\s*\/\/ .*node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//gm)])
        .map(([, name]) => name!),
    );
    expect([...bundled]).toContain('pg');
    const licences = read('dist/licenses.md');
    expect([...bundled].filter((name) => !licences.includes(`## ${name} - `))).toEqual([]);
    expect(read('dist/licenses-script.md')).toContain('## idb-keyval - ');
  });
});
