import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { HOUR_MS, ROLES } from '../../protocol/index.ts';
import type {
  InvitedOperator,
  OpenIdSettings,
  Operator,
  OperatorSession,
  Registry,
  SessionCredential,
  StudioStore,
  Workspace,
} from '../../service/index.ts';

/** Returns the cookie name, with TLS prefixed by `__Host-`, which prevents sibling subdomains from setting the cookie. */
const fullName = (name: string, isSecure: boolean) => (isSecure ? `__Host-${name}` : name);

interface CookieOptions {
  isSecure: boolean;
  /** `SameSite` attribute. Browsers also send `Lax` cookies on navigation from another site. */
  sameSite: 'Strict' | 'Lax';
  maxAgeSeconds: number;
}

/** Returns the value of a `Set-Cookie` header. */
export const setCookie = (
  name: string,
  value: string,
  { isSecure, sameSite, maxAgeSeconds }: CookieOptions,
): string =>
  `${fullName(name, isSecure)}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAgeSeconds}${isSecure ? '; Secure' : ''}`;

/** Returns the value of a cookie in a `Cookie` header; `undefined` if absent. */
export const readCookie = (
  header: string | undefined,
  name: string,
  isSecure: boolean,
): string | undefined => {
  const start = `${fullName(name, isSecure)}=`;
  const found = header?.split(/;\s*/).find((each) => each.startsWith(start));
  return found?.slice(start.length);
};

/** Maximum age of a session, active or idle. */
const MAX_SESSION_MS = 12 * HOUR_MS;
const MAX_IDLE_MS = HOUR_MS;
/** Minimum interval between updates of a session's last use. */
const TOUCH_MS = 60_000;
/** Tolerated clock skew between replicas. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;
const TOKEN_BYTES = 32;
const COOKIE = 'placard-studio';

const KEY_PREFIX = 'op_';
const KEY_BYTES = 32;
const MAX_KEY_CHARACTERS = 200;

/** Authenticated operator with the proof of identity. */
export interface SignedIn {
  operator: Operator;
  workspace: Workspace;
  proof: SessionCredential;
}

/** Session of a request. */
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

/** Creates an operator key and its hash for the workspace file. */
export const newOperatorKey = (): { key: string; sha256: string } => {
  const key = KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url');
  return { key, sha256: sha256(key) };
};

/**
 * Returns the operator with this key; `null` if none. Compares the key with all operators in constant time to prevent timing
 * attacks.
 */
const findOperatorByKey = ({ workspaces }: Registry, key: string): SignedIn | null => {
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

/** Returns the operator for the values of a provider's claim; `null` if none grants a role. */
export const operatorWith = (
  name: string,
  values: readonly string[],
  { roles, canViewUsers }: OpenIdSettings,
): Operator | null => {
  const given = values.flatMap((value) => (Object.hasOwn(roles, value) ? [roles[value]!] : []));
  const role = ROLES.findLast((each) => given.includes(each));
  return role
    ? { name, role, canViewUsers: values.some((value) => canViewUsers.includes(value)), hash: null }
    : null;
};

/** Returns the operator with an accepted invitation; `null` if none, or if the workspace file has an operator with this name. */
const toOperator = (
  invited: InvitedOperator | null,
  { workspaceId, operators }: Workspace,
): Operator | null => {
  if (!invited?.keyHash || invited.workspaceId !== workspaceId) return null;
  const { name, role, canViewUsers, keyHash } = invited;
  if (operators.some((each) => each.name === name)) return null;
  return { name, role, canViewUsers, hash: Buffer.from(keyHash, 'hex') };
};

/**
 * Returns the operator of a session with the role of the current workspace file or the invitation; `null` if the key was replaced,
 * or the operator or the identity provider was removed.
 */
const findSessionOperator = async (
  { operator: name, proof }: OperatorSession,
  workspace: Workspace,
  store: StudioStore,
): Promise<Operator | null> => {
  const { operators, studio } = workspace;
  if ('keyHash' in proof) {
    const found = operators.find(
      (each) => each.name === name && each.hash && Buffer.from(each.hash).toString('hex') === proof.keyHash,
    );
    return found ?? toOperator(await store.operatorByKey(proof.keyHash), workspace);
  }
  const { openId } = studio;
  if (openId?.issuer !== proof.issuer || openId.roleClaim !== proof.claim) return null;
  return operatorWith(name, proof.values, openId);
};

/** Returns whether a session has expired. A future timestamp also counts, because such a session would outlive the others. */
const isExpired = ({ createdAtMs, seenAtMs }: OperatorSession, nowMs: number): boolean =>
  nowMs - createdAtMs >= MAX_SESSION_MS ||
  nowMs - seenAtMs >= MAX_IDLE_MS ||
  createdAtMs - nowMs > MAX_CLOCK_DIFFERENCE_MS;

/** Creates the operator sessions. The cookie contains a random token, of which the store has only the hash. */
export const createSessions = ({ studio, registry, now }: SessionsOptions) => {
  const findInvited = (invited: InvitedOperator | null): SignedIn | null => {
    const workspace = registry().workspaces.find((each) => each.workspaceId === invited?.workspaceId);
    const operator = workspace ? toOperator(invited, workspace) : null;
    return operator && { operator, workspace: workspace!, proof: { keyHash: invited!.keyHash! } };
  };
  return {
    /** Returns the operator with this key; `null` if none. */
    async findOperator(key: string): Promise<SignedIn | null> {
      const found = findOperatorByKey(registry(), key);
      return found || key.length > MAX_KEY_CHARACTERS
        ? found
        : findInvited(await studio.operatorByKey(sha256(key)));
    },

    /** Sets the key of an invited operator; `null` if the token is unknown, expired or was used. */
    async acceptInvitation(token: string): Promise<{ signedIn: SignedIn; key: string } | null> {
      const made = newOperatorKey();
      const signedIn = findInvited(await studio.acceptInvitation(sha256(token), made.sha256, now()));
      return signedIn && { signedIn, key: made.key };
    },

    /** Opens a session and records it in the audit log with `how`. Returns the cookie to set. */
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

    /**
     * Returns the session of the request's cookies; `null` if none, expired, or without a current operator. A poll does not extend
     * the session.
     */
    async of(
      cookies: string | undefined,
      { isSecure, isPoll }: { isSecure: boolean; isPoll: boolean },
    ): Promise<OpenSession | null> {
      const token = readCookie(cookies, COOKIE, isSecure);
      const found = token ? await studio.session(sha256(token)) : null;
      if (!found) return null;
      const time = now();
      const isOver = isExpired(found, time);
      const workspace = registry().workspaces.find((each) => each.workspaceId === found.workspaceId);
      const operator = workspace && (await findSessionOperator(found, workspace, studio));
      if (isOver || !operator) {
        await studio.closeSession(found.sessionId);
        return null;
      }
      if (!isPoll && time - found.seenAtMs >= TOUCH_MS) await studio.touchSession(found.sessionId, time);
      return { sessionId: found.sessionId, operator, workspace };
    },

    /** Returns the cookie that clears the session cookie. */
    ended: (isSecure: boolean): string =>
      setCookie(COOKIE, '', { isSecure, sameSite: 'Strict', maxAgeSeconds: 0 }),
  };
};

export type Sessions = ReturnType<typeof createSessions>;
