import { utf8Bytes } from '../../protocol/index.ts';
import type { createGiveBack } from './give-back.ts';
import { type Batch, type EventKey, keyText } from './records.ts';
import { trackRequest } from './track-request.ts';

/** Beside the keepalive quota there is one of 64 KiB for each origin asked; addresses and headers count too. */
const BUDGET_BYTES = 60_000;

/** What of `fetchLater` is used. */
export type FetchLater = (url: string, init: RequestInit) => { readonly activated: boolean };

export interface DeferralOptions {
  endpoint: string;
  /** Missing where the engine has none. */
  fetchLater: FetchLater | undefined;
  giveBack: ReturnType<typeof createGiveBack>;
}

interface Armed {
  batch: Batch;
  bytes: number;
  abort: AbortController;
  request: ReturnType<FetchLater>;
}

/**
 * Requests that the browser sends by itself when the page is gone: by its end, however that comes, or on its way into
 * the back/forward cache. Nobody ever reads their answers, so what was sent is in doubt; what was not is taken back as
 * soon as the page can send it properly.
 */
export const createDeferral = ({ endpoint, fetchLater, giveBack }: DeferralOptions) => {
  let budget = fetchLater === undefined ? 0 : BUDGET_BYTES;
  let armed: Armed[] = [];

  const used = () => armed.reduce((sum, { bytes, request }) => (request.activated ? sum : sum + bytes), 0);

  const cancel = (some: Armed[]) => {
    for (const one of some) if (!one.request.activated) one.abort.abort();
  };

  return {
    left: () => budget - used(),

    /** Hands a batch that is marked as sent to the browser; false where it will not take it. */
    arm(batch: Batch, key: string): boolean {
      const bytes = utf8Bytes(batch.body);
      if (fetchLater === undefined || used() + bytes > budget) return false;
      const abort = new AbortController();
      const { url, init } = trackRequest(endpoint, key, batch.body);
      try {
        const request = fetchLater(url, { ...init, signal: abort.signal });
        armed.push({ batch, bytes, abort, request });
        return true;
      } catch {
        // The page's policy gives less or nothing, or others have their share: ask for less next time.
        budget = used() + Math.floor(bytes / 2);
        return false;
      }
    },

    /**
     * Takes back what the browser has not sent, as it was: all of it, or the batches with one of `keys`. What it has
     * sent stays marked as sent, and is in doubt when no answer could come any more. The mark goes first: a page that is
     * on its way out writes nothing any more, and leaves its requests where they are.
     */
    async takeBack(keys?: EventKey[]): Promise<void> {
      const texts = keys && new Set(keys.map(keyText));
      const isMeant = ({ batch }: Armed) => !texts || batch.keys.some((key) => texts.has(keyText(key)));
      const meant = armed.filter(isMeant);
      if (meant.length === 0) return;
      armed = armed.filter((one) => !isMeant(one));
      try {
        await giveBack(
          meant.map(({ batch }) => batch),
          (index) => meant[index]!.request.activated,
        );
      } finally {
        cancel(meant);
      }
    },

    /** Nothing of it may be sent any more. */
    abortAll: () => cancel(armed),
  };
};

export type Deferral = ReturnType<typeof createDeferral>;
