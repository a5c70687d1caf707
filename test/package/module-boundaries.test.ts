import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Modules that each module may import besides itself and `protocol`, from the diagram of the architecture. */
const readDiagram = (): Record<string, string[]> => {
  const [, diagram] = /^```mermaid\nflowchart LR\n(.*?)^```/ms.exec(
    readFileSync('docs/concepts/architecture.md', 'utf8'),
  )!;
  const allowed: Record<string, string[]> = { protocol: [] };
  for (const arrow of diagram!.trimEnd().split('\n')) {
    const [from, to] = arrow.split(' --> ').map((side) => side.trim().split(' & '));
    for (const each of to!) allowed[each] ??= [];
    for (const each of from!) allowed[each] = [...(allowed[each] ?? []), ...to!];
  }
  return allowed;
};
const ALLOWED = readDiagram();

/** Folders of the service whose values each of its folders may import. Type imports are always allowed. */
const ALLOWED_IN_SERVICE: Record<string, string[]> = {
  profiles: [],
  export: ['profiles'],
  http: ['store'],
  users: ['profiles', 'http'],
  sql: [],
  operators: ['sql'],
  results: ['profiles', 'sql'],
  integrations: ['sql'],
  releases: ['operators', 'sql', 'campaigns', 'workspace'],
  'data-out': ['profiles', 'results', 'sql'],
  webhooks: ['sql', 'data-out'],
  store: ['profiles', 'operators', 'integrations', 'releases', 'sql', 'results', 'webhooks'],
  campaigns: ['profiles', 'users'],
  explain: ['campaigns'],
  'user-tokens': ['http'],
  workspace: ['profiles', 'users', 'campaigns', 'user-tokens', 'integrations', 'data-out'],
  api: ['http', 'store', 'users', 'user-tokens'],
  routes: [
    'operators',
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
  metrics: ['sql'],
};

interface Import {
  file: string;
  target: string;
}

const getImports = (file: string): Import[] => {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map(([, specifier]) => ({
    file,
    target: relative('.', join(dirname(file), specifier!)),
  }));
};

const TYPES_ONLY = /^(?:import|export) type|^(?:import|export) \{(?:\s*type \w+,?)+\s*\}/;

const getValueImports = (file: string): Import[] => {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^(?:import|export)[^;]*?from '(\.{1,2}\/[^']+)'/gm)]
    .filter(([statement]) => !TYPES_ONLY.test(statement))
    .map(([, specifier]) => ({ file, target: relative('.', join(dirname(file), specifier!)) }));
};

const getModule = (path: string) => /^src\/([^/]+)\//.exec(path)?.[1];

/** Returns the files that importing `file` loads, itself included. */
const loadedBy = (file: string): string[] => {
  const loaded = new Set<string>();
  const load = (each: string): void => {
    if (loaded.has(each)) return;
    loaded.add(each);
    for (const { target } of getValueImports(each)) load(target);
  };
  load(file);
  return [...loaded];
};

const imports = globSync('src/**/*.{ts,tsx}').flatMap(getImports);
const crossModuleImports = imports.filter(({ file, target }) => getModule(file) !== getModule(target));

describe('modules', () => {
  test('are all listed', () => {
    const modules = new Set(globSync('src/*/*.ts').map((file) => getModule(file)!));
    expect([...modules].sort()).toEqual(Object.keys(ALLOWED).sort());
  });

  test('import only permitted modules', () => {
    const violations = crossModuleImports.filter(({ file, target }) => {
      const to = getModule(target);
      return to !== 'protocol' && !ALLOWED[getModule(file)!]!.includes(to!);
    });
    expect(violations).toEqual([]);
  });

  test('are imported through their public index.ts', () => {
    const isPublic = /^src\/(?:[^/]+|protocol\/schemas|client\/platform|service\/profiles)\/index\.ts$/;
    expect(crossModuleImports.filter(({ target }) => !isPublic.test(target))).toEqual([]);
  });

  test('of the service are not loaded by the staging process, except profiles', () => {
    const loaded = loadedBy('src/ingestion/files/stage-process.ts');
    expect(loaded).toContain('src/ingestion/columns.ts');
    const ofService = loaded.filter((file) => getModule(file) === 'service');
    expect(ofService.sort()).toEqual(['src/service/profiles/index.ts', 'src/service/profiles/lookup.ts']);
  });

  test('for browsers do not import schemas, because the schema library is larger than the client', () => {
    const browserModules = [
      ...['protocol', 'client', 'bindings', 'templates', 'element', 'react', 'vue', 'webview', 'devtools'],
      'script',
    ];
    const importers = globSync('src/**/*.{ts,tsx}').filter((file) =>
      /from 'zod|\/schemas\//.test(readFileSync(file, 'utf8').replace(/^import type [^;]*;/gm, '')),
    );
    const violations = importers.filter(
      (file) => browserModules.includes(getModule(file)!) && !file.startsWith('src/protocol/schemas/'),
    );
    expect(violations).toEqual([]);
  });

  test('of the service import only permitted folders', () => {
    const getFolder = (path: string) => /^src\/service\/([^/]+)\//.exec(path)?.[1];
    const files = globSync('src/service/*/**/*.ts');
    expect(new Set(files.map(getFolder))).toEqual(new Set(Object.keys(ALLOWED_IN_SERVICE)));
    const violations = files.flatMap(getValueImports).filter(({ file, target }) => {
      const [from, to] = [getFolder(file)!, getFolder(target)];
      return to !== undefined && to !== from && !ALLOWED_IN_SERVICE[from]!.includes(to);
    });
    expect(violations).toEqual([]);
  });

  test('of the client have no runtime cycles between folders', () => {
    // A file outside the folders counts as its own module.
    const getFolder = (path: string) => /^src\/client\/([^/]+)/.exec(path)?.[1];
    const graph = new Map<string, Set<string>>();
    for (const { file, target } of globSync('src/client/**/*.ts').flatMap(getValueImports)) {
      const [from, to] = [getFolder(file)!, getFolder(target)];
      if (to !== undefined && to !== from) graph.set(from, (graph.get(from) ?? new Set()).add(to));
    }
    const cycles: string[] = [];
    const walk = (folder: string, path: string[]): void => {
      if (path.includes(folder)) cycles.push([...path.slice(path.indexOf(folder)), folder].join(' → '));
      else for (const next of graph.get(folder) ?? []) walk(next, [...path, folder]);
    };
    for (const folder of graph.keys()) walk(folder, []);
    expect(cycles).toEqual([]);
  });

  test('of the client load the deferred chunk, and every chunk after it, on demand only', () => {
    const firstChunk = loadedBy('src/client/index.ts');
    expect(firstChunk).toContain('src/client/create-placard.ts');
    const later = /^src\/client\/(?:delivery|inspector)\//;
    expect(firstChunk.filter((file) => later.test(file))).toEqual([]);
  });

  test('load the MCP SDK only in `placard mcp`', () => {
    const users = imports.filter(
      ({ target }) => target.startsWith('src/mcp/') || target === 'src/cli/mcp.ts',
    );
    const outside = users.filter(({ file }) => getModule(file) !== 'mcp');
    expect(outside.map(({ file }) => file).sort()).toEqual(['src/cli/mcp.ts', 'src/cli/run.ts']);
    expect(getValueImports('src/cli/run.ts').map(({ target }) => target)).not.toContain('src/cli/mcp.ts');
    const direct = globSync('src/**/*.ts').filter((file) =>
      /'@modelcontextprotocol\//.test(readFileSync(file, 'utf8')),
    );
    expect(new Set(direct.map(getModule))).toEqual(new Set(['mcp']));
  });

  test('do not load the service in `placard mcp`, which would start three times slower', () => {
    expect(loadedBy('src/cli/mcp.ts').filter((file) => getModule(file) === 'service')).toEqual([]);
  });

  test('load OpenTelemetry only if its variables are set', () => {
    const users = globSync('src/**/*.ts').filter((file) =>
      /from '@opentelemetry\//.test(readFileSync(file, 'utf8')),
    );
    expect(users.sort()).toEqual(['src/telemetry/metric-data.ts', 'src/telemetry/open-telemetry.ts']);
    const eager = globSync('src/**/*.ts').flatMap(getValueImports);
    const importers = eager.filter(({ target, file }) => users.includes(target) && !users.includes(file));
    expect(importers).toEqual([]);
  });

  test('have no cycles between files, including type imports', () => {
    const graph = new Map<string, string[]>();
    for (const file of globSync('src/**/*.{ts,tsx}')) {
      graph.set(
        file,
        getImports(file).map(({ target }) => target),
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
    exclude: (name) => /node_modules|dist|docs\/api\/html|module-boundaries\.test\.ts$/.test(String(name)),
  });

  test('does not contain names of package registries or machines', () => {
    const violations = [
      ...tracked,
      'README.md',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      'llms.txt',
      'package.json',
      'package-lock.json',
    ].filter((file) => /registry\.npmjs|npmmirror|\/root\/|\/work\/main/.test(readFileSync(file, 'utf8')));
    expect(violations).toEqual([]);
  });
});
