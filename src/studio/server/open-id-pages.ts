import type { Exchange, StudioStore } from '../../service/index.ts';
import type { createOpenId } from './open-id.ts';
import type { StudioAnswer } from './route.ts';
import type { Sessions } from './sessions.ts';

export interface SignInOptions {
  /** Identity providers that one can sign in with beside a key. */
  providers: { workspaceId: string; name: string; host: string }[];
}

interface OpenIdPagesOptions {
  openId: ReturnType<typeof createOpenId>;
  sessions: Sessions;
  studio: StudioStore;
  now: () => number;
}

/** Two cookies in one header are two headers, which a reply cannot have: the pending one ends by its age. */
const to = (location: string, cookie?: string): StudioAnswer => ({
  status: 303,
  headers: { Location: location, ...(cookie !== undefined && { 'Set-Cookie': cookie }) },
});

/** The way to an identity provider and back; `null` for every other address. */
export const createOpenIdPages = ({ openId, sessions, studio, now }: OpenIdPagesOptions) => {
  const finish = async (exchange: Exchange, origin: string): Promise<StudioAnswer> => {
    const isSecure = origin.startsWith('https:');
    const outcome = await openId.finish(exchange.search, exchange.header('cookie'), origin);
    if ('problem' in outcome) {
      return to(`/?problem=${encodeURIComponent(outcome.problem)}`, openId.ended(isSecure));
    }
    const { operator, workspace } = outcome.holder;
    await studio.addAudit({
      workspaceId: workspace.workspaceId,
      atMs: now(),
      operator: operator.name,
      action: 'sign in',
      subject: '',
      details: 'with OpenID Connect',
    });
    return to('/', await sessions.openFor(outcome.holder, isSecure));
  };

  return async (exchange: Exchange, origin: string): Promise<StudioAnswer | null> => {
    const { method, path, search } = exchange;
    if (method !== 'GET') return null;
    if (path === '/api/sign-in') {
      const body: SignInOptions = { providers: openId.providers() };
      return { status: 200, body };
    }
    if (openId.isCallback(path)) return finish(exchange, origin);
    if (!openId.isStart(path)) return null;
    const started = await openId.start(new URLSearchParams(search).get('workspace'), origin);
    return started ? to(started.location, started.cookie) : to('/');
  };
};
