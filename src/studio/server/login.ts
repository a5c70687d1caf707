import * as z from 'zod';
import { type Exchange, HttpError, type Log, type Store } from '../../service/index.ts';
import { readJsonBody } from './read-json-body.ts';
import type { StudioAnswer } from './route.ts';
import type { Sessions } from './sessions.ts';

/** From one address. A key cannot be guessed; this keeps somebody from trying all the same. */
const LOGINS = { requests: 10, windowSeconds: 60 };

const loginBody = z.strictObject({ key: z.string().min(1) });

interface LoginOptions {
  sessions: Sessions;
  store: Store;
  now: () => number;
  log: Log;
}

/** Signs an operator in with their key. */
export const createLogin =
  ({ sessions, store, now, log }: LoginOptions) =>
  async (exchange: Exchange, isSecure: boolean): Promise<StudioAnswer> => {
    const rate = await store.takeRate([{ key: `studio:login:${exchange.address}`, rule: LOGINS }], now());
    if (!rate.allowed) {
      const seconds = Math.max(1, Math.ceil((rate.resetAtMs - now()) / 1000));
      throw new HttpError(429, `Too many tries. Try again in ${seconds} seconds.`, {
        headers: { 'Retry-After': String(seconds) },
      });
    }
    const parsed = loginBody.safeParse(await readJsonBody(exchange));
    if (!parsed.success) throw new HttpError(400, 'Expected a key');
    const opened = await sessions.open(parsed.data.key.trim(), isSecure);
    if (!opened) {
      log.warn({}, 'Studio login refused: no operator has the key');
      throw new HttpError(401, 'No operator has this key');
    }
    const { operator, workspace, cookie } = opened;
    await store.studio.addAudit({
      workspaceId: workspace.workspaceId,
      atMs: now(),
      operator: operator.name,
      action: 'sign in',
      subject: '',
      details: 'with a key',
    });
    return { status: 204, headers: { 'Set-Cookie': cookie } };
  };
