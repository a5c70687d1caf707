/**
 * As strict as the pages can bear: scripts, styles and requests of their own origin, images also from elsewhere
 * (marketers paste links), a frame of our own for the preview, and no string that becomes code.
 */
const policy = (frameAncestors: string) =>
  [
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
  ].join('; ');

const SHARED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy("'none'"),
  ...SHARED,
};

/** Of the preview's own page, which the editor shows in a frame. */
export const FRAME_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy("'self'"),
  ...SHARED,
};
