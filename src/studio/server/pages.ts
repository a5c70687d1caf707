import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HttpResponse } from '../../service/index.ts';

/**
 * Returns the security headers of a page. The content security policy allows scripts, styles, requests and frames of the same
 * origin, and images of any origin because marketers link to external images. Trusted Types prevent the execution of strings.
 * `frameAncestors` limits framing.
 */
export const pageHeaders = (frameAncestors: "'none'" | "'self'"): Readonly<Record<string, string>> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' https: http: data:",
    "frame-src 'self'",
    `frame-ancestors ${frameAncestors}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
});

const SCREEN_HEADERS = pageHeaders("'none'");
/** Headers of the preview page, which the editor shows in a frame. */
const FRAME_HEADERS = pageHeaders("'self'");

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const YEAR_SECONDS = 31_536_000;
const FRAME = '/preview.html';
const INDEX = '/index.html';

/** Possible folders of the built pages: in the package, or in the repository when run from source. */
const FOLDERS = ['./studio-pages/', '../../../dist/studio-pages/'];

export const builtPages = (): string => {
  const found = FOLDERS.map((folder) => fileURLToPath(new URL(folder, import.meta.url))).find((folder) =>
    existsSync(join(folder, INDEX)),
  );
  if (!found) throw new Error('Studio pages not found: run "npm run build" first');
  return found;
};

const readAll = (folder: string): Map<string, { body: string; type: string }> => {
  const files = new Map<string, { body: string; type: string }>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(`/${relative(folder, path).split(sep).join('/')}`, { body: readFileSync(path, 'utf8'), type });
  }
  return files;
};

/** Serves the built pages from memory. Unknown paths outside `/api/` return the main page, whose router shows the screen. */
export const createPages = (folder: string) => {
  const files = readAll(folder);
  return (method: string, path: string): HttpResponse | null => {
    if ((method !== 'GET' && method !== 'HEAD') || path.startsWith('/api/')) return null;
    const page = files.get(path);
    const name = page ? path : INDEX;
    // Does not return HTML for missing assets of an older build.
    if (!page && path.startsWith('/assets/')) return null;
    const { body, type } = files.get(name)!;
    const headers = name === FRAME ? FRAME_HEADERS : SCREEN_HEADERS;
    const cache = path.startsWith('/assets/') ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
    return { status: 200, headers: { ...headers, 'Content-Type': type, 'Cache-Control': cache }, body };
  };
};
