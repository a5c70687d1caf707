import { getHeapStatistics } from 'node:v8';
import { notNow } from '../http-error.ts';

/**
 * Bytes of bodies that the requests of one endpoint may hold together. While a disk or a database stands still they pile
 * up, and their senders ask again: each takes some nine times its body until it is answered.
 */
export const MAX_BYTES = Math.floor(getHeapStatistics().heap_size_limit / 32);
/** What a request without a body takes. */
const MIN_BYTES = 4 * 1024;

/** What one request holds. */
export interface Held {
  /** Adds what came. Throws where others hold too much already: nothing of the request is done then. */
  hold(bytes: number): void;
  /** Once it is answered. */
  leave(): void;
}

export const createHeldBodies = (maxBytes = MAX_BYTES) => {
  let all = 0;

  return (): Held => {
    let own = 0;
    return {
      hold(bytes) {
        if (all - own > maxBytes) throw notNow('Too many requests are waiting');
        const more = own === 0 ? MIN_BYTES + bytes : bytes;
        own += more;
        all += more;
      },
      leave() {
        all -= own;
        own = 0;
      },
    };
  };
};

/** Two: one may wait for the database while the other is judged. */
const AT_ONCE = 2;

/** A request's turn; most never need one. */
export interface Turn {
  /** Resolves when it is this request's turn. Called once at most. */
  enter(): Promise<void>;
  /** Gives the turn back; nothing where there is none. */
  leave(): void;
}

/**
 * Lets few requests with large bodies be in work at once, first come first served. Routes give way to one another while
 * they judge, so without it all that come at once would hold everything made of their bodies at once: hundreds of
 * times what was sent.
 */
export const createLargeBodies = (atOnce = AT_ONCE) => {
  let free = atOnce;
  const waiting: (() => void)[] = [];

  return (): Turn => {
    let isIn = false;
    return {
      enter: () =>
        new Promise((resolve) => {
          const begin = () => {
            isIn = true;
            resolve();
          };
          if (free === 0) waiting.push(begin);
          else {
            free -= 1;
            begin();
          }
        }),
      leave: () => {
        if (!isIn) return;
        isIn = false;
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      },
    };
  };
};
