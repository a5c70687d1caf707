import type { Fail } from '../../src/client/notices.ts';
import type { Clock } from '../../src/client/platform/clock.ts';
import { createUserTokens } from '../../src/client/platform/http.ts';
import { withTimeout } from '../../src/client/platform/pauses.ts';
import { createTokenSource, type ProvideToken } from '../../src/client/user/token-source.ts';

/** User tokens of a page whose host provides them with `provide`. `loadChunk` rejects if their chunk cannot be loaded. */
export const aUserTokens = (
  provide: ProvideToken | undefined,
  clock: Pick<Clock, 'now' | 'after'>,
  fail: Fail,
  loadChunk: () => Promise<void> = async () => undefined,
) =>
  createUserTokens(
    provide &&
      (async (pause) => {
        await loadChunk();
        return createTokenSource({ ...clock, provide, pause, withTimeout });
      }),
    clock.now,
    fail,
  );
