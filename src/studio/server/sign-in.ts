import { hash } from 'node:crypto';
import * as z from 'zod';
import { type HandlerResult, HttpError, type Log, type Store } from '../../service/index.ts';
import { OPENID_CALLBACK, OPENID_START, type OpenId } from './open-id.ts';
import { defineBody, defineSignIn, type SignInRoute } from './route.ts';
import type { Sessions } from './sessions.ts';

/** Rate limit per key prefix from all addresses, against guessing an operator's key. */
const KEY_TRIES = { requests: 10, windowSeconds: 60 };
/** Rate limit per address. Higher, because all users of an office or an untrusted proxy can share an address. */
const ADDRESS_TRIES = { requests: 100, windowSeconds: 60 };
/** Rate limit of OpenID sign-ins, because each can call the identity provider. */
const OPENID_TRIES = { requests: 30, windowSeconds: 60 };
/** Length of the key prefix: `op_` and 48 bits of the key, so that prefixes do not collide by chance. */
const KEY_START_CHARACTERS = 11;

const invitationBody = z.strictObject({ token: z.string().min(1).max(100) });
const loginBody = z.strictObject({ key: z.string().min(1) }, { error: 'Expected a key' });

export interface SignInOptions {
  /** Identity providers that offer sign-in. */
  providers: { workspaceId: string; name: string; host: string }[];
}

interface CreateSignInOptions {
  sessions: Sessions;
  openId: OpenId;
  store: Store;
  now: () => number;
  log: Log;
}

/** Returns a redirect. A response can set only one cookie, so the cookie of the pending sign-in is left to expire. */
const redirect = (location: string, cookie?: string): HandlerResult => ({
  status: 303,
  text: '',
  headers: { Location: location, ...(cookie !== undefined && { 'Set-Cookie': cookie }) },
});

const isSecure = (origin: string) => origin.startsWith('https:');

/** Creates the routes without a session: sign-in by key, OpenID redirect and OpenID callback. */
export const createSignInRoutes = ({
  sessions,
  openId,
  store,
  now,
  log,
}: CreateSignInOptions): SignInRoute[] => {
  const limit = async (key: string, rule: { requests: number; windowSeconds: number }) => {
    const rate = await store.consumeRateLimit([{ key, rule }], now());
    if (rate.allowed) return;
    const seconds = Math.max(1, Math.ceil((rate.resetAtMs - now()) / 1000));
    throw new HttpError(429, `Too many attempts. Try again in ${seconds} seconds.`, {
      headers: { 'Retry-After': String(seconds) },
    });
  };

  return [
    defineSignIn({
      method: 'POST',
      path: '/api/session',
      role: null,
      body: defineBody(loginBody),
      async handle({ request, body, origin }) {
        await limit(`studio:login:${request.address}`, ADDRESS_TRIES);
        const key = body.key.trim();
        await limit(`studio:key:${hash('sha256', key.slice(0, KEY_START_CHARACTERS))}`, KEY_TRIES);
        const signedIn = await sessions.findOperator(key);
        if (!signedIn) {
          log.warn({}, 'unknown operator key');
          throw new HttpError(401, 'Unknown operator key');
        }
        const cookie = await sessions.open(signedIn, 'with a key', isSecure(origin));
        return { status: 204, text: '', headers: { 'Set-Cookie': cookie } };
      },
    }),
    defineSignIn({
      method: 'POST',
      path: '/api/invitations',
      role: null,
      body: defineBody(invitationBody),
      async handle({ request, body, origin }) {
        await limit(`studio:login:${request.address}`, ADDRESS_TRIES);
        const accepted = await sessions.acceptInvitation(body.token);
        if (!accepted)
          throw new HttpError(404, 'This invitation was used, removed or has expired. Ask for a new one');
        const cookie = await sessions.open(accepted.signedIn, 'with an invitation', isSecure(origin));
        return { status: 201, body: { key: accepted.key }, headers: { 'Set-Cookie': cookie } };
      },
    }),
    defineSignIn({
      method: 'GET',
      path: '/api/sign-in',
      role: null,
      body: null,
      handle() {
        const body: SignInOptions = { providers: openId.providers() };
        return { status: 200, body };
      },
    }),
    defineSignIn({
      method: 'GET',
      path: OPENID_START,
      role: null,
      body: null,
      async handle({ request, origin }) {
        await limit(`studio:openid:${request.address}`, OPENID_TRIES);
        const started = await openId.start(new URLSearchParams(request.search).get('workspace'), origin);
        return started ? redirect(started.location, started.cookie) : redirect('/');
      },
    }),
    defineSignIn({
      method: 'GET',
      path: OPENID_CALLBACK,
      role: null,
      body: null,
      async handle({ request, origin }) {
        await limit(`studio:openid:${request.address}`, OPENID_TRIES);
        const outcome = await openId.finish(request.search, request.header('cookie'), origin);
        if ('problem' in outcome) {
          const { problem } = outcome;
          return redirect(`/?problem=${encodeURIComponent(problem)}`, openId.ended(isSecure(origin)));
        }
        return redirect('/', await sessions.open(outcome.signedIn, 'with OpenID Connect', isSecure(origin)));
      },
    }),
  ];
};
