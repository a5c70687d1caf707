import { hash, timingSafeEqual } from 'node:crypto';
import type { Exchange, Reply } from '../gate/exchange.ts';
import { replyOf } from '../gate/reply.ts';
import { errorFacts, type Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import { InDoubtError, NotNowError } from '../store/write-errors.ts';
import { trackWork } from '../users/track-work.ts';
import { HAND_OVER_PATH, type Outcome, REFUSED } from './outcome.ts';
import { readTrack } from './track-text.ts';

/** Checked objects are longer than they were when they were sent; who sends them has checked that they are not too many. */
const MAX_BYTES = 128 * 1024 * 1024;

const digest = (text: string) => hash('sha256', text, 'buffer');

const tracksOf = (body: Uint8Array): unknown[] | null => {
  try {
    const tracks = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
    return Array.isArray(tracks) ? tracks : null;
  } catch {
    // The parser's message quotes the body, which is users' data.
    return null;
  }
};

/**
 * Does what other replicas hand over. Gives `undefined` for a request that is none of theirs: who cannot show the token
 * does not learn that there is such an endpoint.
 */
export const createTakeOver = (options: {
  store: Store;
  token: string;
  log: Log;
  isLeaving: () => boolean;
}): ((exchange: Exchange) => Promise<Reply> | undefined) => {
  const { store, log, isLeaving } = options;
  const expected = digest(`Bearer ${options.token}`);

  const take = async (exchange: Exchange): Promise<Reply> => {
    // Read first: an answer to a body that still comes may be lost with the connection.
    const body = await exchange.body(MAX_BYTES);
    if (!body) return replyOf({ status: 413, text: REFUSED });
    if (isLeaving()) return replyOf({ status: 503, text: REFUSED });
    const tracks = tracksOf(body);
    if (!tracks) return replyOf({ status: 400, text: REFUSED });
    const results = await Promise.allSettled(
      tracks.map(async (track) => store.writeUsers(trackWork(readTrack(track)))),
    );
    const failed: number[] = [];
    const inDoubt: number[] = [];
    const notNow: number[] = [];
    for (const [index, result] of results.entries()) {
      if (result.status === 'fulfilled') continue;
      failed.push(index);
      if (result.reason instanceof NotNowError) notNow.push(index);
      else log.error(errorFacts(result.reason), 'work of another replica failed');
      if (result.reason instanceof InDoubtError) inDoubt.push(index);
    }
    const outcome: Outcome = {
      failed,
      ...(inDoubt.length > 0 && { inDoubt }),
      ...(notNow.length > 0 && { notNow }),
    };
    return replyOf({ status: 200, body: outcome });
  };

  return (exchange) => {
    if (exchange.path !== HAND_OVER_PATH || exchange.method !== 'POST') return undefined;
    if (!timingSafeEqual(digest(exchange.header('authorization') ?? ''), expected)) return undefined;
    return take(exchange);
  };
};
