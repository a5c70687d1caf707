import { DAY_MS, SYNC_PATH, TRACK_PATH } from '../../../src/protocol/index.ts';
import type { SyncResponse } from '../../../src/protocol/schemas/index.ts';
import {
  createService,
  type Log,
  type Store,
  type WorkspaceSource,
  watchReleases,
} from '../../../src/service/index.ts';
import { type CampaignJson, createStudio } from '../../../src/studio/index.ts';
import { APP_ID, CLIENT_KEY, OPERATOR_KEY, SERVER_KEY } from '../keys.ts';
import { createVisit, DAYS, makePeople, type Person, type SeenBanner, type Visit } from './people.ts';
import { type Deed, monthDeeds } from './releases.ts';

const ORIGIN = 'http://127.0.0.1';
/** Maximum objects of a `/users/track` request. */
const MAX_OBJECTS = 75;
const PLACEMENTS = ['home_hero', 'sidebar_promo', 'checkout_strip'];

const chunks = <T>(values: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(values.length / MAX_OBJECTS) }, (_, index) =>
    values.slice(index * MAX_OBJECTS, (index + 1) * MAX_OBJECTS),
  );

const read = async (response: Response) => {
  if (response.ok) return response.status === 204 ? null : response.json();
  throw new Error(`The demo data was rejected: ${response.status} ${await response.text()}`);
};

const json = (method: string, headers: Record<string, string>, body: unknown): RequestInit => ({
  method,
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

interface MonthOptions {
  store: Store;
  workspaces: WorkspaceSource;
  /** End of the month, in Unix milliseconds. */
  endMs: number;
  log: Log;
}

const WORKSPACE = 'demo';

/** Returns whether the store has no releases and no impressions. Sample data is added only to an unused store. */
export const isUnused = async (store: Store): Promise<boolean> =>
  (await store.studio.releaseState(WORKSPACE, 0)).newest === 0 &&
  (await store.campaignSummaries(WORKSPACE)).length === 0;

/** Returns whether a database has the sample users. */
export const hasMonth = async (store: Store): Promise<boolean> => {
  const [first] = makePeople();
  return (await store.readUsers(WORKSPACE, [{ by: 'external_id', value: first!.id }])).length > 0;
};

/**
 * Creates a month of sample data with users, their events, and releases. Uses the APIs of the service and the Studio with a clock
 * that advances day by day. The data is deterministic except for the dates.
 */
export const makeMonth = async ({ store, workspaces: source, endMs, log }: MonthOptions): Promise<void> => {
  const startMs = endMs - DAYS * DAY_MS;
  let nowMs = startMs;
  const now = () => nowMs;
  // Does not stop the source or close the store, because both are used later.
  const workspaces = await watchReleases({ registry: source.registry, stop: () => undefined }, store.studio, {
    log,
    now,
  });
  const kept: Store = { ...store, close: async () => undefined };
  const service = createService({ workspaces, store: kept, now, log });
  const studio = createStudio({ workspaces, store: kept, service, serviceUrl: null, pages: null, now, log });

  const ask = (path: string, key: string, body: unknown) =>
    service
      .fetch(new Request(ORIGIN + path, json('POST', { authorization: `Bearer ${key}` }, body)))
      .then(read);
  const usersTrack = (member: string, objects: readonly unknown[]) =>
    Promise.all(chunks(objects).map((each) => ask('/users/track', SERVER_KEY, { [member]: each })));

  /** Signs in for each action, because sessions expire within a day. */
  const act = async (deed: Deed, newest: Map<string, number>): Promise<void> => {
    const from = { host: new URL(ORIGIN).host, origin: ORIGIN };
    const call = (method: string, path: string, body: unknown, more = {}) =>
      studio.fetch(new Request(ORIGIN + path, json(method, { ...from, ...more }, body)));
    const signedIn = await call('POST', '/api/session', { key: OPERATOR_KEY });
    await read(signedIn);
    const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
    const ofOperator = (method: string, path: string, body: unknown) =>
      call(method, path, body, { cookie }).then(read);
    const { note } = deed;
    if ('publish' in deed) {
      const { campaign_id } = deed.publish;
      const draft = { campaign: deed.publish, based_on: newest.get(campaign_id) ?? 0 };
      const { revision } = await ofOperator('PUT', `/api/drafts/${campaign_id}`, draft);
      const { release } = await ofOperator('POST', '/api/releases', { campaign_id, revision, note });
      newest.set(campaign_id, release);
    } else {
      const based_on = newest.get(deed.campaignId)!;
      await ofOperator('POST', `/api/releases/${deed.backTo}/restore`, { note, based_on });
    }
  };

  const visit = async (person: Person, dayMs: number): Promise<Visit> => {
    const envelope = { external_user_id: person.id, app_id: APP_ID, app_version: '1.0.0' };
    const { banners }: SyncResponse = await ask(SYNC_PATH, CLIENT_KEY, {
      ...envelope,
      placements: PLACEMENTS,
    });
    const got = Object.values(banners).filter((banner) => banner !== null);
    const visited = createVisit(person, got as SeenBanner[], dayMs);
    if (visited.bannerEvents.length > 0) {
      await ask(TRACK_PATH, CLIENT_KEY, { ...envelope, events: visited.bannerEvents });
    }
    return visited;
  };

  const inFile = (id: string): CampaignJson => {
    const { workspaces: all } = source.registry();
    const found = all.flatMap((each) => each.rawCampaigns).find((each) => each['campaign_id'] === id);
    if (!found)
      throw new Error(`The demo data needs the campaign "${id}" of demo/workspace.json; --empty does not`);
    return found as unknown as CampaignJson;
  };
  const deeds = monthDeeds(inFile, (day) => new Date(startMs + day * DAY_MS).toISOString());
  const newest = new Map<string, number>();
  const people = makePeople();
  try {
    for (let day = 0; day < DAYS; day += 1) {
      const dayMs = startMs + day * DAY_MS;
      nowMs = dayMs;
      for (const deed of deeds) if (deed.day === day) await act(deed, newest);
      const arriving = people.filter(({ days }) => days[0] === day);
      await usersTrack(
        'attributes',
        arriving.map(({ id, attributes }) => ({ external_id: id, ...attributes })),
      );
      // Events are sent at the end of their day, because the API rejects future events.
      nowMs = dayMs + DAY_MS - 1;
      const visits = await Promise.all(
        people.filter(({ days }) => days.includes(day)).map((person) => visit(person, dayMs)),
      );
      await usersTrack(
        'events',
        visits.flatMap(({ events }) => events),
      );
      await usersTrack(
        'purchases',
        visits.flatMap(({ purchases }) => purchases),
      );
    }
  } finally {
    await service.close();
  }
};
