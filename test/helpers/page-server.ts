import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BROWSER_ENTRIES, bundle } from './bundle.ts';

/** A test page. The script is served as a file, so that a page with a strict CSP can run it. */
export interface TestPage {
  /** Inside `<body>`. */
  html?: string;
  /** Module source; may import `/placard/index.js` and the other entries. */
  script?: string;
  /** Inside `<head>`. */
  head?: string;
  headers?: Record<string, string>;
}

export interface PageServer {
  /** `http://127.0.0.1:<port>`, one per requested origin. */
  origins: string[];
  /** The first origin. */
  origin: string;
  /** Adds or replaces the page at a path on every origin. */
  set(path: string, page: TestPage): void;
  /** Serves any other file: a service worker, an image. */
  file(path: string, content: string | Uint8Array, headers: Record<string, string>): void;
  /** Requested paths, with their query. */
  requests: string[];
  /** Responds to matching paths with 503; `null` ends that. */
  refuse(paths: RegExp | null): void;
  close(): Promise<void>;
}

export interface PageServerOptions {
  pages?: Record<string, TestPage>;
  /** Number of origins that serve the same pages. Default 1. */
  origins?: number;
  /** Test modules by name: `{ shop: 'test/e2e/pages/shop.ts' }` is served as `/placard/shop.js`. */
  modules?: Record<string, string>;
  /** Browser entries of the package to build. Default: all. */
  entries?: string[];
  minify?: boolean;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const document = (path: string, page: TestPage): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${path}</title><link rel="icon" href="data:,">${page.head ?? ''}</head>
<body>${page.html ?? ''}
${page.script === undefined ? '' : `<script type="module" src="/scripts${path}.js"></script>`}</body>
</html>`;

const listen = (handler: RequestListener): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer(handler);
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });

/** Serves test pages and the client's modules on loopback origins. */
export const startPageServer = async (options: PageServerOptions = {}): Promise<PageServer> => {
  const names = options.entries ?? Object.keys(BROWSER_ENTRIES);
  const entries = names
    .map((name) => [name, BROWSER_ENTRIES[name]!] as const)
    .filter(([, path]) => options.entries || existsSync(join(ROOT, path)));
  const folder = await bundle(
    { ...Object.fromEntries(entries), ...options.modules },
    { minify: options.minify ?? false },
  );
  const pages = new Map(Object.entries(options.pages ?? {}));
  const files = new Map<string, { content: string | Uint8Array; headers: Record<string, string> }>();
  const requests: string[] = [];
  let refused: RegExp | null = null;

  const answer: RequestListener = async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    requests.push(url.pathname + url.search);
    const send = (type: string, body: string | Uint8Array, headers: Record<string, string> = {}) => {
      response.writeHead(200, { 'content-type': type, ...headers });
      response.end(body);
    };
    // A sandboxed page has an opaque origin, so its modules are cross-origin.
    const sendModule = (body: string | Uint8Array) =>
      send('text/javascript; charset=utf-8', body, { 'access-control-allow-origin': '*' });
    if (refused?.test(url.pathname)) return void response.writeHead(503).end();
    const page = pages.get(url.pathname);
    if (page) return send('text/html; charset=utf-8', document(url.pathname, page), page.headers);
    const file = files.get(url.pathname);
    if (file) return send('text/plain', file.content, file.headers);
    const script = /^\/scripts(\/.*)\.js$/.exec(url.pathname)?.[1];
    const source = script === undefined ? undefined : pages.get(script)?.script;
    if (source !== undefined) return sendModule(source);
    if (url.pathname.startsWith('/placard/')) {
      const path = join(folder, normalize(url.pathname.slice('/placard'.length)));
      if (existsSync(path)) return sendModule(await readFile(path));
    }
    response.writeHead(404, { 'content-type': 'text/plain' });
    response.end(`No test page at ${url.pathname}`);
  };

  const servers = await Promise.all(Array.from({ length: options.origins ?? 1 }, () => listen(answer)));
  const origins = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    origins,
    origin: origins[0]!,
    requests,
    refuse(paths) {
      refused = paths;
    },
    set: (path, page) => void pages.set(path, page),
    file: (path, content, headers) => void files.set(path, { content, headers }),
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
};
