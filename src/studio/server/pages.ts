import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reply } from '../../service/index.ts';

/**
 * Headers of a page of ours. As strict as the pages can bear: scripts, styles and requests of their own origin, images also from
 * elsewhere (marketers paste links), frames of our own, and no string that becomes code. `frameAncestors` says who may frame it.
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
/** Of the preview's own page, which the editor shows in a frame. */
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

/** Where a build puts the pages: beside the package's own files, or in the repository, seen from the source. */
const FOLDERS = ['./studio-pages/', '../../../dist/studio-pages/'];

export const builtPages = (): string => {
  const found = FOLDERS.map((folder) => fileURLToPath(new URL(folder, import.meta.url))).find((folder) =>
    existsSync(join(folder, INDEX)),
  );
  if (!found) throw new Error('The Studio is not built: run "npm run build" first');
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

/** Serves the built pages from memory. A path that is no file and no `/api/` is a screen, which the page itself finds. */
export const createPages = (folder: string) => {
  const files = readAll(folder);
  return (method: string, path: string): Reply | null => {
    if ((method !== 'GET' && method !== 'HEAD') || path.startsWith('/api/')) return null;
    const known = files.get(path);
    const name = known ? path : INDEX;
    // A file that a page of an older build asks for is not there: the page must not get HTML in its place.
    if (!known && path.startsWith('/assets/')) return null;
    const { body, type } = files.get(name)!;
    const headers = name === FRAME ? FRAME_HEADERS : SCREEN_HEADERS;
    const cache = path.startsWith('/assets/') ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
    return { status: 200, headers: { ...headers, 'Content-Type': type, 'Cache-Control': cache }, body };
  };
};
