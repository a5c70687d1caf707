/**
 * Only over TLS may a cookie be `Secure`, which the prefix `__Host-` asks for: it keeps pages of neighbouring hosts from
 * setting one of theirs.
 */
const fullName = (name: string, isSecure: boolean) => (isSecure ? `__Host-${name}` : name);

interface CookieOptions {
  isSecure: boolean;
  /** `Lax` reaches the Studio also when another site's page leads there. */
  sameSite: 'Strict' | 'Lax';
  maxAgeSeconds: number;
}

/** The value of a `Set-Cookie` header. */
export const setCookie = (
  name: string,
  value: string,
  { isSecure, sameSite, maxAgeSeconds }: CookieOptions,
): string =>
  `${fullName(name, isSecure)}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAgeSeconds}${isSecure ? '; Secure' : ''}`;

/** The value of a cookie in a `Cookie` header; `undefined` where it is not there. */
export const cookieIn = (header: string | undefined, name: string, isSecure: boolean): string | undefined => {
  const start = `${fullName(name, isSecure)}=`;
  const found = header?.split(/;\s*/).find((each) => each.startsWith(start));
  return found?.slice(start.length);
};
