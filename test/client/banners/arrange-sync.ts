import { vi } from 'vitest';
import { createSync } from '../../../src/client/banners/sync.ts';
import { createSyncFailures } from '../../../src/client/banners/sync-failure.ts';
import type { SyncResult } from '../../../src/client/banners/sync-response.ts';
import { createReadBanners } from '../../../src/client/banners/sync-response.ts';
import { sharedFunctions } from '../../../src/client/delivery/trouble/shared-functions.ts';
import type { Notice, PlacardOptions } from '../../../src/client/index.ts';
import { createNotices } from '../../../src/client/notices.ts';
import { readOptions } from '../../../src/client/options/options.ts';
import { createPostJson } from '../../../src/client/platform/http.ts';
import type { SyncRequest } from '../../../src/protocol/index.ts';
import { aWireBanner } from '../../helpers/a-banner.ts';
import { aUserTokens } from '../../helpers/user-tokens.ts';

interface Sent {
  body: SyncRequest;
  request: Request;
}
export type Answer = (sent: Sent) => Response | Promise<Response>;

export const json = (body: unknown, init?: ResponseInit) => Response.json(body, init);
export const all: Answer = ({ body }) =>
  json({ banners: Object.fromEntries(body.placements.map((id) => [id, aWireBanner({ placement_id: id })])) });
export const refuse = (status: number, headers: HeadersInit = {}): Answer => {
  return () => json({ error: 'no' }, { status, headers });
};

/** A sync whose service sends the given responses in turn, and repeats the last. */
export const setUp = (answers: Answer[] = [all], options: Partial<PlacardOptions> = {}) => {
  const sent: Sent[] = [];
  const callers: unknown[] = [];
  const results: SyncResult[] = [];
  const notices: Notice[] = [];
  const { notify, fail, subscribe } = createNotices();
  subscribe((notice) => notices.push(notice));
  const state = { userId: 'u-1' as string | null, canSync: true };
  const onRateLimit = vi.fn();
  const settings = readOptions({
    endpoint: 'https://api.example/base',
    apiKey: 'key-1',
    appId: 'app',
    appVersion: '1.2',
    userId: 'u-1',
    ...options,
    platform: {
      random: () => 1,
      async fetch(this: unknown, input, init) {
        callers.push(this);
        const request = new Request(input, init);
        const entry = { request, body: (await request.clone().json()) as SyncRequest };
        sent.push(entry);
        return (answers.length > 1 ? answers.shift() : answers[0])!(entry);
      },
    },
  } as PlacardOptions);
  const userTokens = aUserTokens(settings.use.userTokens?.provide, settings.platform, fail);
  const sync = createSync({
    settings,
    postJson: createPostJson(settings.endpoint, settings.platform.after, settings.platform.fetch),
    userTokens,
    trouble: async () => createSyncFailures(sharedFunctions, settings, userTokens, onRateLimit),
    readBanners: createReadBanners(fail),
    permission: { userId: () => state.userId, canSync: () => state.canSync },
    onResponse: (result) => results.push(result),
    notify,
    fail,
  });
  const kinds = () => notices.flatMap((notice) => (notice.type === 'failed' ? [notice.kind] : []));
  const waiting = () => notices.flatMap((notice) => (notice.type === 'paused' ? [notice.reason] : []));
  return { sync, sent, callers, results, notices, kinds, waiting, state, onRateLimit };
};

export const settle = () => vi.advanceTimersByTimeAsync(0);
