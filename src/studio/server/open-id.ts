import * as openid from 'openid-client';
import {
  errorFacts,
  type Log,
  type OpenIdSettings,
  type Operator,
  type Registry,
  ROLES,
} from '../../service/index.ts';
import type { KeyHolder } from './operator-keys.ts';

const CALLBACK = '/openid/callback';
const START = '/openid/start';
/** Long enough to type a password and a second factor. */
const MAX_AGE_SECONDS = 600;

/** What the browser keeps while somebody signs in elsewhere; without it an answer of the provider is nobody's. */
interface Pending {
  workspaceId: string;
  state: string;
  nonce: string;
  verifier: string;
}

/** Signed in with this operator, or a sentence why not. */
export type OpenIdOutcome = { holder: KeyHolder } | { problem: string };

interface OpenIdOptions {
  registry: () => Registry;
  env: NodeJS.ProcessEnv;
  log: Log;
}

const cookieName = (isSecure: boolean) => (isSecure ? '__Host-placard-openid' : 'placard-openid');

/** `Lax`: the provider's page leads back here, which is another site's doing. */
const cookie = (isSecure: boolean, value: string, maxAge: number) =>
  `${cookieName(isSecure)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${isSecure ? '; Secure' : ''}`;

const pendingIn = (cookies: string | undefined, isSecure: boolean): Pending | null => {
  const name = `${cookieName(isSecure)}=`;
  const value = cookies
    ?.split(/;\s*/)
    .find((each) => each.startsWith(name))
    ?.slice(name.length);
  if (!value) return null;
  try {
    return JSON.parse(Buffer.from(value, 'base64url').toString());
  } catch {
    // Somebody has changed their own cookie: they begin again.
    return null;
  }
};

/** The operator that a provider's claims describe; `null` where none of them gives a role. */
export const operatorFrom = (claims: Record<string, unknown>, settings: OpenIdSettings): Operator | null => {
  const claim = claims[settings.roleClaim];
  const values = (Array.isArray(claim) ? claim : [claim]).filter((each) => typeof each === 'string');
  const roles = values.flatMap((value) =>
    Object.hasOwn(settings.roles, value) ? [settings.roles[value]!] : [],
  );
  const role = ROLES.findLast((each) => roles.includes(each));
  const name = [claims['email'], claims['name'], claims['sub']].find(
    (each) => typeof each === 'string' && each !== '',
  );
  if (!role || typeof name !== 'string') return null;
  return { name, role, people: values.some((value) => settings.people.includes(value)), hash: null };
};

/** Sign-in through the identity providers of the workspaces: the authorization code flow with PKCE. */
export const createOpenId = ({ registry, env, log }: OpenIdOptions) => {
  const workspaceOf = (id: string | null) =>
    registry().workspaces.find(({ workspaceId, studio }) => workspaceId === id && studio.openId !== null);

  const configurationOf = async ({ issuer, clientId, secretVariable }: OpenIdSettings) => {
    const secret = secretVariable === null ? undefined : env[secretVariable];
    if (secretVariable !== null && !secret) throw new Error(`${secretVariable} is not set`);
    const authentication = secret ? openid.ClientSecretPost(secret) : openid.None();
    // Only a provider on one's own machine is reached without TLS.
    const isLocal = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::|\/|$)/.test(issuer);
    return openid.discovery(new URL(issuer), clientId, undefined, authentication, {
      execute: isLocal ? [openid.allowInsecureRequests] : [],
    });
  };

  return {
    /** Whom one can sign in with, for the login page. */
    providers: () =>
      registry().workspaces.flatMap(({ workspaceId, name, studio: { openId } }) =>
        openId ? [{ workspaceId, name, host: new URL(openId.issuer).host }] : [],
      ),

    isStart: (path: string) => path === START,
    isCallback: (path: string) => path === CALLBACK,

    /** Where to send the browser, and what it has to keep meanwhile. */
    async start(
      workspaceId: string | null,
      origin: string,
    ): Promise<{ location: string; cookie: string } | null> {
      const settings = workspaceOf(workspaceId)?.studio.openId;
      if (!settings) return null;
      const isSecure = origin.startsWith('https:');
      const pending: Pending = {
        workspaceId: workspaceId!,
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      };
      const location = openid.buildAuthorizationUrl(await configurationOf(settings), {
        redirect_uri: origin + CALLBACK,
        scope: 'openid profile email',
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
      });
      const value = Buffer.from(JSON.stringify(pending)).toString('base64url');
      return { location: location.href, cookie: cookie(isSecure, value, MAX_AGE_SECONDS) };
    },

    /** What the provider answered, checked: its code, state, nonce and signature. */
    async finish(search: string, cookies: string | undefined, origin: string): Promise<OpenIdOutcome> {
      const pending = pendingIn(cookies, origin.startsWith('https:'));
      const workspace = workspaceOf(pending?.workspaceId ?? null);
      const settings = workspace?.studio.openId;
      if (!pending || !workspace || !settings) return { problem: 'The sign-in took too long. Begin again.' };
      try {
        const url = new URL(`${origin}${CALLBACK}?${search}`);
        const tokens = await openid.authorizationCodeGrant(await configurationOf(settings), url, {
          pkceCodeVerifier: pending.verifier,
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          idTokenExpected: true,
        });
        const operator = operatorFrom(tokens.claims() ?? {}, settings);
        if (!operator) return { problem: 'You are known, and have no role in this Studio.' };
        return { holder: { operator, workspace } };
      } catch (error) {
        log.warn(errorFacts(error), 'OpenID Connect sign-in refused');
        return { problem: 'The identity provider did not confirm who you are. Try again.' };
      }
    },

    /** The cookie that takes the pending one away. */
    ended: (isSecure: boolean): string => cookie(isSecure, '', 0),
  };
};
