import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative, sep } from 'node:path';
import { pageHeaders } from '../../src/studio/index.ts';

/** Headers of the demo's pages, which can frame each other. */
export const SECURITY_HEADERS = pageHeaders("'self'");

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** Folder of Vite's hashed assets. */
const HASHED = '/assets/';
const YEAR_SECONDS = 31_536_000;

interface Served {
  body: Buffer;
  type: string;
}

const readAll = (folder: string): Map<string, Served> => {
  const files = new Map<string, Served>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(`/${relative(folder, path).split(sep).join('/')}`, { body: readFileSync(path), type });
  }
  const index = files.get('/index.html');
  if (index) files.set('/', index);
  return files;
};

/** Serves a built folder from memory, so paths cannot leave it. Returns `false` for unknown paths. */
export const createStaticFiles = (folder: string) => {
  const files = readAll(folder);
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = request.method === 'GET' || request.method === 'HEAD' ? files.get(pathname) : undefined;
    if (!file) return false;
    response.writeHead(200, {
      ...SECURITY_HEADERS,
      // Allows other origins, because the Studio and other apps load the shop's images.
      ...(file.type.startsWith('image/') && { 'Cross-Origin-Resource-Policy': 'cross-origin' }),
      'Content-Type': file.type,
      'Content-Length': file.body.byteLength,
      'Cache-Control': pathname.startsWith(HASHED)
        ? `public, max-age=${YEAR_SECONDS}, immutable`
        : 'no-cache',
    });
    response.end(request.method === 'HEAD' ? undefined : file.body);
    return true;
  };
};
