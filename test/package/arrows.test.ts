import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Allowed imports between modules. Every module may import itself and `protocol`. */
const ARROWS: Record<string, string[]> = {
  protocol: [],
  client: [],
  templates: ['client'],
  element: ['client', 'templates'],
  bindings: ['client'],
  react: ['client', 'bindings'],
  vue: ['client', 'bindings'],
  devtools: ['client'],
  webview: ['client'],
  script: ['client', 'element', 'templates'],
  server: [],
  secrets: [],
  // Template names, for the schema of the workspace file.
  service: ['templates'],
  testing: ['client', 'service'],
  studio: ['secrets', 'service', 'templates'],
  ingestion: ['secrets', 'service'],
  // Only types of the Studio API; the calls go over HTTP.
  mcp: ['studio'],
  telemetry: ['service'],
  cli: ['secrets', 'server', 'service', 'ingestion', 'studio', 'mcp', 'telemetry'],
};

/** Allowed imports between the folders of the service. Type imports are always allowed. */
const SERVICE_ARROWS: Record<string, string[]> = {
  profiles: [],
  export: ['profiles'],
  http: ['store'],
  users: ['profiles', 'http'],
  operators: [],
  sql: ['operators'],
  results: ['operators', 'sql'],
  integrations: ['operators'],
  releases: ['operators', 'campaigns', 'workspace'],
  'data-out': ['results'],
  webhooks: ['operators', 'data-out'],
  store: ['profiles', 'operators', 'integrations', 'releases', 'sql', 'results', 'webhooks'],
  campaigns: ['profiles', 'users'],
  explain: ['campaigns'],
  'user-tokens': ['http'],
  workspace: ['users', 'campaigns', 'user-tokens', 'integrations', 'data-out'],
  api: ['http', 'store', 'users', 'user-tokens'],
  routes: [
    'profiles',
    'data-out',
    'export',
    'http',
    'api',
    'users',
    'campaigns',
    'explain',
    'user-tokens',
    'workspace',
    'integrations',
  ],
  'public-endpoints': ['http', 'api', 'workspace'],
  metrics: [],
};

interface Import {
  file: string;
  target: string;
}

const importsOf = (file: string): Import[] => {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map(([, specifier]) => ({
    file,
    target: relative('.', join(dirname(file), specifier!)),
  }));
};

const TYPES_ONLY = /^(?:import|export) type|^(?:import|export) \{(?:\s*type \w+,?)+\s*\}/;

const valueImportsOf = (file: string): Import[] => {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^(?:import|export)[^;]*?from '(\.{1,2}\/[^']+)'/gm)]
    .filter(([statement]) => !TYPES_ONLY.test(statement))
    .map(([, specifier]) => ({ file, target: relative('.', join(dirname(file), specifier!)) }));
};

const roomOf = (path: string) => /^src\/([^/]+)\//.exec(path)?.[1];

const imports = globSync('src/**/*.{ts,tsx}').flatMap(importsOf);
const crossings = imports.filter(({ file, target }) => roomOf(file) !== roomOf(target));

describe('rooms', () => {
  test('are all known', () => {
    const rooms = new Set(globSync('src/*/*.ts').map((file) => roomOf(file)));
    expect([...rooms].filter((room) => !Object.hasOwn(ARROWS, room!))).toEqual([]);
  });

  test('import only along the arrows', () => {
    const against = crossings.filter(({ file, target }) => {
      const to = roomOf(target);
      return to !== 'protocol' && !ARROWS[roomOf(file)!]!.includes(to!);
    });
    expect(against).toEqual([]);
  });

  test("are entered by their front door, the folder's index.ts", () => {
    const doors = /^src\/(?:[^/]+|protocol\/schemas|client\/platform)\/index\.ts$/;
    expect(crossings.filter(({ target }) => !doors.test(target))).toEqual([]);
  });

  test('that a browser loads enter no schema: a schema library weighs more than all that the client does with it', () => {
    const inBrowsers = [
      ...['protocol', 'client', 'bindings', 'templates', 'element', 'react', 'vue', 'webview', 'devtools'],
      'script',
    ];
    const users = globSync('src/**/*.{ts,tsx}').filter((file) =>
      /from 'zod|\/schemas\//.test(readFileSync(file, 'utf8').replace(/^import type [^;]*;/gm, '')),
    );
    const against = users.filter(
      (file) => inBrowsers.includes(roomOf(file)!) && !file.startsWith('src/protocol/schemas/'),
    );
    expect(against).toEqual([]);
  });

  test('of the service import only along its arrows', () => {
    const folderOf = (path: string) => /^src\/service\/([^/]+)\//.exec(path)?.[1];
    const files = globSync('src/service/*/**/*.ts');
    expect(new Set(files.map(folderOf))).toEqual(new Set(Object.keys(SERVICE_ARROWS)));
    const against = files.flatMap(valueImportsOf).filter(({ file, target }) => {
      const [from, to] = [folderOf(file)!, folderOf(target)];
      return to !== undefined && to !== from && !SERVICE_ARROWS[from]!.includes(to);
    });
    expect(against).toEqual([]);
  });

  test('of the client, its folders, have no circle at run time', () => {
    // A file outside the folders counts as its own module.
    const boxOf = (path: string) => /^src\/client\/([^/]+)/.exec(path)?.[1];
    const graph = new Map<string, Set<string>>();
    for (const { file, target } of globSync('src/client/**/*.ts').flatMap(valueImportsOf)) {
      const [from, to] = [boxOf(file)!, boxOf(target)];
      if (to !== undefined && to !== from) graph.set(from, (graph.get(from) ?? new Set()).add(to));
    }
    const circles: string[] = [];
    const walk = (box: string, path: string[]): void => {
      if (path.includes(box)) circles.push([...path.slice(path.indexOf(box)), box].join(' → '));
      else for (const next of graph.get(box) ?? []) walk(next, [...path, box]);
    };
    for (const box of graph.keys()) walk(box, []);
    expect(circles).toEqual([]);
  });

  test('of the client load the late chunk, and every chunk after it, on demand only', () => {
    const firstChunk = new Set<string>();
    const load = (file: string): void => {
      if (firstChunk.has(file)) return;
      firstChunk.add(file);
      for (const { target } of valueImportsOf(file)) load(target);
    };
    load('src/client/index.ts');
    expect(firstChunk).toContain('src/client/create-placard.ts');
    const later = /^src\/client\/(?:late|delivery|inspector|preview)\//;
    expect([...firstChunk].filter((file) => later.test(file))).toEqual([]);
  });

  test('load the MCP SDK in `placard mcp` only', () => {
    const users = imports.filter(
      ({ target }) => target.startsWith('src/mcp/') || target === 'src/cli/mcp.ts',
    );
    const outside = users.filter(({ file }) => roomOf(file) !== 'mcp');
    expect(outside.map(({ file }) => file).sort()).toEqual(['src/cli/mcp.ts', 'src/cli/run.ts']);
    expect(valueImportsOf('src/cli/run.ts').map(({ target }) => target)).not.toContain('src/cli/mcp.ts');
    const direct = globSync('src/**/*.ts').filter((file) =>
      /'@modelcontextprotocol\//.test(readFileSync(file, 'utf8')),
    );
    expect(new Set(direct.map(roomOf))).toEqual(new Set(['mcp']));
  });

  test('load OpenTelemetry if its variables ask for it only', () => {
    const users = globSync('src/**/*.ts').filter((file) =>
      /from '@opentelemetry\//.test(readFileSync(file, 'utf8')),
    );
    expect(users.sort()).toEqual(['src/telemetry/metric-data.ts', 'src/telemetry/open-telemetry.ts']);
    const eager = globSync('src/**/*.ts').flatMap(valueImportsOf);
    const importers = eager.filter(({ target, file }) => users.includes(target) && !users.includes(file));
    expect(importers).toEqual([]);
  });

  test('have no cycle between files, type imports included', () => {
    const graph = new Map<string, string[]>();
    for (const file of globSync('src/**/*.{ts,tsx}')) {
      graph.set(
        file,
        importsOf(file).map(({ target }) => target),
      );
    }
    const done = new Set<string>();
    const cycles: string[] = [];
    const walk = (file: string, path: string[]) => {
      if (path.includes(file)) {
        cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
        return;
      }
      if (done.has(file)) return;
      for (const target of graph.get(file) ?? []) walk(target, [...path, file]);
      done.add(file);
    };
    for (const file of graph.keys()) walk(file, []);
    expect(cycles).toEqual([]);
  });
});

describe('the repository', () => {
  const tracked = globSync('{src,demo,deploy,docs,test,.github}/**/*.{ts,json,html,css,md,yaml}', {
    exclude: (name) => /node_modules|dist|docs\/api\/html|arrows\.test\.ts$/.test(String(name)),
  });

  test('names no package registry and no path of a machine', () => {
    const offending = [
      ...tracked,
      'README.md',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      'llms.txt',
      'package.json',
      'package-lock.json',
    ].filter((file) => /registry\.npmjs|npmmirror|\/root\/|\/work\/main/.test(readFileSync(file, 'utf8')));
    expect(offending).toEqual([]);
  });
});
