import { hash, randomBytes } from 'node:crypto';
import type {
  Operator,
  OperatorSession,
  Registry,
  Role,
  StudioStore,
  Workspace,
} from '../../service/index.ts';
import { type KeyHolder, operatorWithKey } from './operator-keys.ts';

const HOUR_MS = 60 * 60 * 1000;
/** However busy it is, and where nothing happens. */
export const MAX_SESSION_MS = 12 * HOUR_MS;
export const MAX_IDLE_MS = HOUR_MS;
/** That somebody was there is written down this often at most. */
const TOUCH_MS = 60_000;
const TOKEN_BYTES = 32;

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

/**
 * Only over TLS may a cookie be `Secure`, which the prefix asks for: it keeps pages of neighbouring hosts from setting
 * one of theirs.
 */
const cookieName = (isSecure: boolean) => (isSecure ? '__Host-placard-studio' : 'placard-studio');

const cookie = (isSecure: boolean, value: string, maxAgeSeconds: number) =>
  `${cookieName(isSecure)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${isSecure ? '; Secure' : ''}`;

const tokenIn = (header: string | undefined, isSecure: boolean): string | undefined => {
  const name = `${cookieName(isSecure)}=`;
  const found = header?.split(/;\s*/).find((each) => each.startsWith(name));
  return found?.slice(name.length);
};

/** Who the session is of, as the workspace file or the identity provider says; `undefined` for nobody any more. */
const operatorOf = (
  { operator: name, role, people }: OperatorSession,
  { operators, studio }: Workspace,
): Operator | undefined => {
  if (role === null) return operators.find((each) => each.name === name);
  return studio.openId ? { name, role: role as Role, people, hash: null } : undefined;
};

/** Operators' sessions: a random token in a cookie, of which the database knows the hash. */
export const createSessions = ({ studio, registry, now }: SessionsOptions) => ({
  /** Opens a session for the operator with this key: the cookie to set, or `null` where no one has it. */
  async open(key: string, isSecure: boolean): Promise<(KeyHolder & { cookie: string }) | null> {
    const holder = operatorWithKey(registry(), key);
    if (!holder) return null;
    return { ...holder, cookie: await this.openFor(holder, isSecure) };
  },

  /** Opens a session for an operator who has proven who they are. */
  async openFor({ operator, workspace }: KeyHolder, isSecure: boolean): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const time = now();
    await studio.closeOldSessions(time - MAX_SESSION_MS, time - MAX_IDLE_MS);
    await studio.openSession({
      workspaceId: workspace.workspaceId,
      sessionId: sha256(token),
      operator: operator.name,
      role: operator.hash === null ? operator.role : null,
      people: operator.people,
      createdAtMs: time,
      seenAtMs: time,
    });
    return cookie(isSecure, token, MAX_SESSION_MS / 1000);
  },

  /** The session of a request's cookies. An operator who has left the workspace file has none any more. */
  async of(cookies: string | undefined, isSecure: boolean): Promise<OpenSession | null> {
    const token = tokenIn(cookies, isSecure);
    const found = token ? await studio.session(sha256(token)) : null;
    if (!found) return null;
    const time = now();
    if (time - found.createdAtMs >= MAX_SESSION_MS || time - found.seenAtMs >= MAX_IDLE_MS) {
      await studio.closeSession(found.sessionId);
      return null;
    }
    const workspace = registry().workspaces.find((each) => each.workspaceId === found.workspaceId);
    const operator = workspace && operatorOf(found, workspace);
    if (!operator) return null;
    if (time - found.seenAtMs >= TOUCH_MS) await studio.touchSession(found.sessionId, time);
    return { sessionId: found.sessionId, operator, workspace };
  },

  /** The cookie that takes a session's cookie away. */
  ended: (isSecure: boolean): string => cookie(isSecure, '', 0),
});

export type Sessions = ReturnType<typeof createSessions>;
