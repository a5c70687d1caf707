import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative, sep } from 'node:path';

/**
 * As strict as the pages can bear, which is all but nothing: scripts, styles and requests of their own origin, images
 * also from elsewhere (marketers paste links), frames of our own for the Studio, and no string that becomes code.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' https: http: data:",
  "frame-src 'self'",
  "frame-ancestors 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** Vite puts a hash into the names of what is in here. */
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

/**
 * Serves a built folder from memory: a path that is no file of it, whatever it holds, finds nothing. Answers false for
 * what is not its own.
 */
export const createStaticFiles = (folder: string) => {
  const files = readAll(folder);
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = request.method === 'GET' || request.method === 'HEAD' ? files.get(pathname) : undefined;
    if (!file) return false;
    response.writeHead(200, {
      ...SECURITY_HEADERS,
      // An app of any origin shows the shop's pictures, and so does the Studio.
      ...(file.type.startsWith('image/') && { 'cross-origin-resource-policy': 'cross-origin' }),
      'content-type': file.type,
      'content-length': file.body.byteLength,
      'cache-control': pathname.startsWith(HASHED)
        ? `public, max-age=${YEAR_SECONDS}, immutable`
        : 'no-cache',
    });
    response.end(request.method === 'HEAD' ? undefined : file.body);
    return true;
  };
};
