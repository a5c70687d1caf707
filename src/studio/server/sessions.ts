import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type {
  OpenIdSettings,
  Operator,
  OperatorSession,
  Registry,
  Role,
  SessionCredential,
  StudioStore,
  Workspace,
} from '../../service/index.ts';
import { ROLES } from '../../service/index.ts';

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

const HOUR_MS = 60 * 60 * 1000;
/** However busy it is, and where nothing happens. */
const MAX_SESSION_MS = 12 * HOUR_MS;
const MAX_IDLE_MS = HOUR_MS;
/** The last use of a session is written down this often at most. */
const TOUCH_MS = 60_000;
/** Between the clocks of two replicas. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;
const TOKEN_BYTES = 32;
const COOKIE = 'placard-studio';

const KEY_PREFIX = 'op_';
const KEY_BYTES = 32;
const MAX_KEY_CHARACTERS = 200;

/** An operator who has proven who they are, and with what. */
export interface SignedIn {
  operator: Operator;
  workspace: Workspace;
  proof: SessionCredential;
}

/** A session of a request. */
export interface OpenSession {
  sessionId: string;
  operator: Operator;
  workspace: Workspace;
}

interface SessionsOptions {
  studio: StudioStore;
  registry: () => Registry;
  now: () => number;
}

const sha256 = (text: string) => hash('sha256', text, 'hex');

/** A new key, and what the workspace file keeps of it. */
export const newOperatorKey = (): { key: string; sha256: string } => {
  const key = KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url');
  return { key, sha256: sha256(key) };
};

/** Whose key it is. Every operator is looked at, in constant time: how long it takes tells nothing. */
const holderOf = ({ workspaces }: Registry, key: string): SignedIn | null => {
  if (key.length > MAX_KEY_CHARACTERS) return null;
  const presented = createHash('sha256').update(key).digest();
  const proof = { keyHash: presented.toString('hex') };
  let found: SignedIn | null = null;
  for (const workspace of workspaces) {
    for (const operator of workspace.operators) {
      if (operator.hash && timingSafeEqual(operator.hash, presented)) found = { operator, workspace, proof };
    }
  }
  return found;
};

/** Whether an operator's role is at least this one. */
export const hasRole = ({ role }: Pick<Operator, 'role'>, least: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(least);

/** The operator whom these values of a provider's claim describe; `null` where none of them gives a role. */
export const operatorWith = (
  name: string,
  values: readonly string[],
  { roles, canViewUsers: people }: OpenIdSettings,
): Operator | null => {
  const given = values.flatMap((value) => (Object.hasOwn(roles, value) ? [roles[value]!] : []));
  const role = ROLES.findLast((each) => given.includes(each));
  return role
    ? { name, role, canViewUsers: values.some((value) => people.includes(value)), hash: null }
    : null;
};

/**
 * Whom a session is of today; `null` for nobody. A key that was replaced in the workspace file proves nothing any more,
 * nor does an identity provider that the file names no longer; roles are those of today's file.
 */
const operatorOf = (
  { operator: name, proof }: OperatorSession,
  { operators, studio }: Workspace,
): Operator | null => {
  if ('keyHash' in proof) {
    return (
      operators.find(
        (each) => each.name === name && each.hash && Buffer.from(each.hash).toString('hex') === proof.keyHash,
      ) ?? null
    );
  }
  const { openId } = studio;
  if (openId?.issuer !== proof.issuer || openId.roleClaim !== proof.claim) return null;
  return operatorWith(name, proof.values, openId);
};

/** A session from the future was opened while a clock was ahead: it would outlive the others. */
const isExpired = ({ createdAtMs, seenAtMs }: OperatorSession, nowMs: number): boolean =>
  nowMs - createdAtMs >= MAX_SESSION_MS ||
  nowMs - seenAtMs >= MAX_IDLE_MS ||
  createdAtMs - nowMs > MAX_CLOCK_DIFFERENCE_MS;

/** Operators' sessions: a random token in a cookie, of which the database knows the hash. */
export const createSessions = ({ studio, registry, now }: SessionsOptions) => ({
  /** The operator with this key; `null` where no one has it. */
  holderOf: (key: string): SignedIn | null => holderOf(registry(), key),

  /** Opens a session, writes that into the audit, and returns the cookie to set. `how` is for the audit. */
  async open({ operator, workspace, proof }: SignedIn, how: string, isSecure: boolean): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const time = now();
    const { workspaceId } = workspace;
    const entry = { workspaceId, atMs: time, operator: operator.name, subject: '' };
    await studio.closeOldSessions(time - MAX_SESSION_MS, time - MAX_IDLE_MS);
    await studio.openSession({
      workspaceId,
      sessionId: sha256(token),
      operator: operator.name,
      proof,
      createdAtMs: time,
      seenAtMs: time,
    });
    await studio.addAudit({ ...entry, action: 'operator.sign_in', details: how });
    return setCookie(COOKIE, token, {
      isSecure,
      sameSite: 'Strict',
      maxAgeSeconds: MAX_SESSION_MS / 1000,
    });
  },

  /** The session of a request's cookies, where it is open still and its operator is one today. */
  async of(cookies: string | undefined, isSecure: boolean): Promise<OpenSession | null> {
    const token = cookieIn(cookies, COOKIE, isSecure);
    const found = token ? await studio.session(sha256(token)) : null;
    if (!found) return null;
    const time = now();
    const isOver = isExpired(found, time);
    const workspace = registry().workspaces.find((each) => each.workspaceId === found.workspaceId);
    const operator = workspace && operatorOf(found, workspace);
    if (isOver || !operator) {
      await studio.closeSession(found.sessionId);
      return null;
    }
    if (time - found.seenAtMs >= TOUCH_MS) await studio.touchSession(found.sessionId, time);
    return { sessionId: found.sessionId, operator, workspace };
  },

  /** The cookie that takes a session's cookie away. */
  ended: (isSecure: boolean): string =>
    setCookie(COOKIE, '', { isSecure, sameSite: 'Strict', maxAgeSeconds: 0 }),
});

export type Sessions = ReturnType<typeof createSessions>;
