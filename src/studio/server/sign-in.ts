import { hash } from 'node:crypto';
import * as z from 'zod';
import { type Exchange, HttpError, type Log, type Store } from '../../service/index.ts';
import { readJsonBody } from './body.ts';
import { OPENID_CALLBACK, OPENID_START, type OpenId } from './open-id.ts';
import type { StudioAnswer } from './route.ts';
import type { Sessions } from './sessions.ts';

/** With keys that begin alike, from anywhere: a guess at one operator's key. */
const KEY_TRIES = { requests: 10, windowSeconds: 60 };
/** From one address, which a whole office, or a proxy that is not trusted, may share. */
const ADDRESS_TRIES = { requests: 100, windowSeconds: 60 };
/** Each may ask the identity provider for something. */
const OPENID_TRIES = { requests: 30, windowSeconds: 60 };
/** `op_` and 48 bits of the key: two operators have the same by no chance. */
const KEY_START_CHARACTERS = 11;

const loginBody = z.strictObject({ key: z.string().min(1) });

export interface SignInOptions {
  /** Identity providers that offer a sign-in beside the key. */
  providers: { workspaceId: string; name: string; host: string }[];
}

interface CreateSignInOptions {
  sessions: Sessions;
  openId: OpenId;
  store: Store;
  now: () => number;
  log: Log;
}

/** Two cookies in one header are two headers, which a reply cannot have: the pending one ends by its age. */
const redirect = (location: string, cookie?: string): StudioAnswer => ({
  status: 303,
  headers: { Location: location, ...(cookie !== undefined && { 'Set-Cookie': cookie }) },
});

/** What is answered without a session: the sign-in by key, and the way to an identity provider and back. */
export const createSignIn = ({ sessions, openId, store, now, log }: CreateSignInOptions) => {
  const limit = async (key: string, rule: { requests: number; windowSeconds: number }) => {
    const rate = await store.takeRate([{ key, rule }], now());
    if (rate.allowed) return;
    const seconds = Math.max(1, Math.ceil((rate.resetAtMs - now()) / 1000));
    throw new HttpError(429, `Too many tries. Try again in ${seconds} seconds.`, {
      headers: { 'Retry-After': String(seconds) },
    });
  };

  const withKey = async (exchange: Exchange, isSecure: boolean): Promise<StudioAnswer> => {
    await limit(`studio:login:${exchange.address}`, ADDRESS_TRIES);
    const parsed = loginBody.safeParse(await readJsonBody(exchange));
    if (!parsed.success) throw new HttpError(400, 'Expected a key');
    const key = parsed.data.key.trim();
    await limit(`studio:key:${hash('sha256', key.slice(0, KEY_START_CHARACTERS))}`, KEY_TRIES);
    const signedIn = sessions.holderOf(key);
    if (!signedIn) {
      log.warn({}, 'Studio login refused: no operator has the key');
      throw new HttpError(401, 'No operator has this key');
    }
    return { status: 204, headers: { 'Set-Cookie': await sessions.open(signedIn, 'with a key', isSecure) } };
  };

  const fromProvider = async (exchange: Exchange, origin: string): Promise<StudioAnswer> => {
    const isSecure = origin.startsWith('https:');
    const outcome = await openId.finish(exchange.search, exchange.header('cookie'), origin);
    if ('problem' in outcome) {
      return redirect(`/?problem=${encodeURIComponent(outcome.problem)}`, openId.ended(isSecure));
    }
    return redirect('/', await sessions.open(outcome.signedIn, 'with OpenID Connect', isSecure));
  };

  /** `null` for every other address. */
  return async (exchange: Exchange, origin: string): Promise<StudioAnswer | null> => {
    const { method, path, search, address } = exchange;
    if (path === '/api/session' && method === 'POST') return withKey(exchange, origin.startsWith('https:'));
    if (method !== 'GET') return null;
    if (path === '/api/sign-in') {
      const body: SignInOptions = { providers: openId.providers() };
      return { status: 200, body };
    }
    if (path !== OPENID_START && path !== OPENID_CALLBACK) return null;
    await limit(`studio:openid:${address}`, OPENID_TRIES);
    if (path === OPENID_CALLBACK) return fromProvider(exchange, origin);
    const started = await openId.start(new URLSearchParams(search).get('workspace'), origin);
    return started ? redirect(started.location, started.cookie) : redirect('/');
  };
};
