import { SYNC_PATH, type SyncAnswer, TRACK_PATH } from '../../../src/protocol/index.ts';
import {
  createService,
  type Log,
  type Store,
  type WorkspaceSource,
  watchReleases,
} from '../../../src/service/index.ts';
import { type CampaignJson, createStudio } from '../../../src/studio/index.ts';
import { APP_ID, CLIENT_KEY, OPERATOR_KEY, SERVER_KEY } from '../keys.ts';
import { DAYS, makePeople, type Person, type SeenBanner, type Visit, visitOf } from './people.ts';
import { type Deed, monthDeeds } from './releases.ts';

const DAY_MS = 86_400_000;
const ORIGIN = 'http://127.0.0.1';
/** Objects that `/users/track` takes in one request. */
const MAX_OBJECTS = 75;
const PLACEMENTS = ['home_hero', 'sidebar_promo', 'checkout_strip'];

const chunks = <T>(values: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(values.length / MAX_OBJECTS) }, (_, index) =>
    values.slice(index * MAX_OBJECTS, (index + 1) * MAX_OBJECTS),
  );

const read = async (response: Response) => {
  if (response.ok) return response.status === 204 ? null : response.json();
  throw new Error(`The made-up month was refused: ${response.status} ${await response.text()}`);
};

const json = (method: string, headers: Record<string, string>, body: unknown): RequestInit => ({
  method,
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

interface MonthOptions {
  store: Store;
  workspaces: WorkspaceSource;
  /** When the month ends, in Unix milliseconds. */
  endMs: number;
  log: Log;
}

const WORKSPACE = 'demo';

/** Whether nobody has published or seen anything yet: a month is made in no other database. */
export const isUnused = async (store: Store): Promise<boolean> =>
  (await store.studio.newestRelease(WORKSPACE)) === 0 &&
  (await store.campaignSummaries(WORKSPACE)).length === 0;

/** Whether a database holds the made-up people. */
export const hasMonth = async (store: Store): Promise<boolean> => {
  const [first] = makePeople();
  return (await store.readUsers(WORKSPACE, [{ by: 'external_id', value: first!.id }])).length > 0;
};

/**
 * Makes a month of the shop's life: its people, what they saw and did, and what a marketer published. All of it goes through the
 * service's and the Studio's own requests, at a clock that is put forward day by day; so nothing of it is more or less than what a
 * month leaves behind. The same each time, but for its dates.
 */
export const makeMonth = async ({ store, workspaces: source, endMs, log }: MonthOptions): Promise<void> => {
  const startMs = endMs - DAYS * DAY_MS;
  let nowMs = startMs;
  const now = () => nowMs;
  // Both end with the month, what they stand on does not.
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

  /** A marketer sits down at the Studio, who signs in for each deed: a session does not last for days. */
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
    const { banners }: SyncAnswer = await ask(SYNC_PATH, CLIENT_KEY, { ...envelope, placements: PLACEMENTS });
    const got = Object.values(banners).filter((banner) => banner !== null);
    const visited = visitOf(person, got as SeenBanner[], dayMs);
    if (visited.bannerEvents.length > 0) {
      await ask(TRACK_PATH, CLIENT_KEY, { ...envelope, events: visited.bannerEvents });
    }
    return visited;
  };

  const inFile = (id: string): CampaignJson => {
    const { workspaces: all } = source.registry();
    const found = all.flatMap((each) => each.rawCampaigns).find((each) => each['campaign_id'] === id);
    if (!found)
      throw new Error(
        `The made-up month needs the campaign "${id}" of demo/workspace.json; --empty does not`,
      );
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
      // What happens on the day is received at its end, and no event is of the future.
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
