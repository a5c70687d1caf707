import * as openid from 'openid-client';
import { readSecret } from '../../secrets/index.ts';
import {
  isLoopback,
  type Log,
  type OpenIdSettings,
  type Registry,
  serializeError,
} from '../../service/index.ts';
import { operatorWith, readCookie, type SignedIn, setCookie } from './sessions.ts';

export const OPENID_START = '/openid/start';
export const OPENID_CALLBACK = '/openid/callback';
/** Maximum time for a sign-in at the provider with a password and a second factor. */
const MAX_AGE_SECONDS = 600;
const MAX_NAME_CHARACTERS = 80;
const COOKIE = 'placard-openid';

/** State of a sign-in, kept in a cookie, so that a callback is only valid in the browser that started it. */
interface Pending {
  workspaceId: string;
  state: string;
  nonce: string;
  verifier: string;
}

type OpenIdOutcome = { signedIn: SignedIn } | { problem: string };

interface OpenIdOptions {
  registry: () => Registry;
  log: Log;
}

/** Returns the cookie with the state of a sign-in. `Lax`, because the callback is a navigation from another site. */
const pendingCookie = (isSecure: boolean, value: string, maxAgeSeconds: number) =>
  setCookie(COOKIE, value, { isSecure, sameSite: 'Lax', maxAgeSeconds });

const pendingIn = (cookies: string | undefined, isSecure: boolean): Pending | null => {
  const value = readCookie(cookies, COOKIE, isSecure);
  if (!value) return null;
  try {
    return JSON.parse(Buffer.from(value, 'base64url').toString());
  } catch {
    // The cookie is invalid, so the sign-in must start again.
    return null;
  }
};

/**
 * Returns the display name of an operator. Only a verified email address is used alone, because operators can choose names and
 * unverified addresses, and so impersonate a colleague.
 */
const getDisplayName = (
  { email, email_verified, name, sub }: Record<string, unknown>,
  issuer: string,
): string => {
  if (typeof email === 'string' && email !== '' && email_verified === true) return email;
  const id = `${sub} at ${new URL(issuer).host}`;
  const shown = typeof name === 'string' ? name.replaceAll(/[\p{C}\s]+/gu, ' ').trim() : '';
  return shown === '' ? id : `${shown.slice(0, MAX_NAME_CHARACTERS)} (${id})`;
};

/** Returns the operator for a provider's claims; `null` if no claim grants a role. */
const signedInWith = (
  claims: Record<string, unknown>,
  workspace: SignedIn['workspace'],
  settings: OpenIdSettings,
): SignedIn | null => {
  const { issuer, roleClaim, roles, canViewUsers } = settings;
  const all: unknown[] = [claims[roleClaim]].flat();
  // Keeps only the groups that grant a role, because a user can have hundreds.
  const values = all.filter(
    (each): each is string =>
      typeof each === 'string' && (Object.hasOwn(roles, each) || canViewUsers.includes(each)),
  );
  const operator = operatorWith(getDisplayName(claims, issuer), values, settings);
  return operator && { operator, workspace, proof: { issuer, claim: roleClaim, values } };
};

const discoverConfiguration = async ({ issuer, clientId, secretVariable }: OpenIdSettings) => {
  const secret = secretVariable === null ? undefined : readSecret(secretVariable);
  if (secretVariable !== null && !secret) throw new Error(`${secretVariable} is not set`);
  const authentication = secret ? openid.ClientSecretPost(secret) : openid.None();
  // Plain HTTP is allowed only for a provider on loopback.
  const url = new URL(issuer);
  const isLocal = url.protocol === 'http:' && isLoopback(url.hostname);
  return openid.discovery(url, clientId, undefined, authentication, {
    // Without non-repudiation checks, the library relies on TLS and does not verify the signature of the ID token.
    execute: [openid.enableNonRepudiationChecks, ...(isLocal ? [openid.allowInsecureRequests] : [])],
  });
};

/** Creates the sign-in with the workspaces' identity providers, by the OpenID Connect authorization code flow with PKCE. */
export const createOpenId = ({ registry, log }: OpenIdOptions) => {
  const findWorkspace = (id: string | null) =>
    registry().workspaces.find(({ workspaceId, studio }) => workspaceId === id && studio.openId !== null);

  return {
    /** Returns the providers for the login page. */
    providers: () =>
      registry().workspaces.flatMap(({ workspaceId, name, studio: { openId } }) =>
        openId ? [{ workspaceId, name, host: new URL(openId.issuer).host }] : [],
      ),

    /** Returns the authorization URL and the cookie with the state of the sign-in. */
    async start(
      workspaceId: string | null,
      origin: string,
    ): Promise<{ location: string; cookie: string } | null> {
      const settings = findWorkspace(workspaceId)?.studio.openId;
      if (!settings) return null;
      const pending: Pending = {
        workspaceId: workspaceId!,
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      };
      const location = openid.buildAuthorizationUrl(await discoverConfiguration(settings), {
        redirect_uri: origin + OPENID_CALLBACK,
        scope: 'openid profile email',
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
      });
      const value = Buffer.from(JSON.stringify(pending)).toString('base64url');
      return {
        location: location.href,
        cookie: pendingCookie(origin.startsWith('https:'), value, MAX_AGE_SECONDS),
      };
    },

    /** Completes the callback. Verifies the code, state, nonce and signature. */
    async finish(search: string, cookies: string | undefined, origin: string): Promise<OpenIdOutcome> {
      const pending = pendingIn(cookies, origin.startsWith('https:'));
      const workspace = findWorkspace(pending?.workspaceId ?? null);
      const settings = workspace?.studio.openId;
      if (!pending || !workspace || !settings) return { problem: 'The sign-in expired. Try again.' };
      try {
        const url = new URL(`${origin}${OPENID_CALLBACK}?${search}`);
        const tokens = await openid.authorizationCodeGrant(await discoverConfiguration(settings), url, {
          pkceCodeVerifier: pending.verifier,
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          idTokenExpected: true,
        });
        const signedIn = signedInWith(tokens.claims() ?? {}, workspace, settings);
        return signedIn ? { signedIn } : { problem: 'No access. Ask an admin for a role.' };
      } catch (error) {
        log.warn(serializeError(error), 'OpenID Connect sign-in failed');
        return { problem: 'The identity provider did not confirm who you are. Try again.' };
      }
    },

    /** Returns the cookie that clears the state of the sign-in. */
    ended: (isSecure: boolean): string => pendingCookie(isSecure, '', 0),
  };
};

export type OpenId = ReturnType<typeof createOpenId>;
