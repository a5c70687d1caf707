import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { SYNC_PATH, TRACK_PATH, USERS_TRACK_PATH } from '../../src/protocol/index.ts';
import { bannersTrackRequest, syncRequest, usersTrackRequest } from '../../src/protocol/schemas/index.ts';
import { createService, openStore, type Service } from '../../src/service/index.ts';
import { buildBanner, createFakeService, type FakeService } from '../../src/testing/index.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../helpers/a-workspace.ts';
import { NO_LIMITS } from '../helpers/api-routes.ts';
import { bannersTrackBodies, EDGE_USERS, syncBodies, usersTrackBodies } from '../helpers/edge-bodies.ts';
import fc, { times } from '../helpers/property.ts';

/** Bodies per endpoint. */
const BODIES = times(600);
const envelope = { external_user_id: 'u-1', app_id: APP_ID, app_version: '1.0' };

let service: Service;
let fake: FakeService;
let bannerId: string;

const ask = async (handle: (request: Request) => Promise<Response>, path: string, body: unknown) => {
  const key = path.startsWith('/users/') ? SERVER_KEY : CLIENT_KEY;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const request = new Request(`http://placard.test${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const response = await handle(request);
  return { status: response.status, body: await response.json() };
};

beforeAll(async () => {
  const workspace = aWorkspace({ limits: NO_LIMITS, campaigns: [aCampaign()] });
  service = createService({ workspaces: [workspace], store: await openStore(':memory:') });
  // For users that no server request has named, only events for their own banners would be accepted.
  await ask(service.fetch, USERS_TRACK_PATH, {
    attributes: EDGE_USERS.map((external_id) => ({ external_id })),
  });
  bannerId = (await ask(service.fetch, SYNC_PATH, { ...envelope, placements: ['home'] })).body.banners.home
    .id;
  fake = createFakeService({
    clientKey: CLIENT_KEY,
    serverKey: SERVER_KEY,
    appIds: [APP_ID],
    users: EDGE_USERS,
    banners: { home: buildBanner('home', {}, { id: bannerId }) },
  });
});
afterAll(() => service.close());

const ENDPOINTS: [path: string, schema: z.core.$ZodType, bodies: () => fc.Arbitrary<unknown>][] = [
  [SYNC_PATH, syncRequest, () => syncBodies],
  [TRACK_PATH, bannersTrackRequest, () => bannersTrackBodies(bannerId)],
  [USERS_TRACK_PATH, usersTrackRequest, () => usersTrackBodies],
];
/** JSON has no `undefined`. */
const asSent = (body: unknown): unknown => (body === undefined ? null : JSON.parse(JSON.stringify(body)));
/** zod counts UTF-16 units, JSON Schema and the contract count code points, so such text cannot be compared. */
const hasLongCharacters = (body: unknown) => /[\ud800-\udbff][\udc00-\udfff]/.test(JSON.stringify(body));

describe.each(ENDPOINTS)('a body of %s', (path, schema, bodies) => {
  it('is accepted by the service and the fake if and only if it matches its schema', async () => {
    const description = z.fromJSONSchema(
      z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Parameters<
        typeof z.fromJSONSchema
      >[0],
    );
    const verdicts = { taken: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(bodies(), async (drawn) => {
        const body = asSent(drawn);
        const answer = await ask(service.fetch, path, body);
        const isTaken = answer.status < 300 && answer.body.errors === undefined;
        expect(z.safeParse(schema, body).success, JSON.stringify(answer.body).slice(0, 500)).toBe(isTaken);
        if (isTaken && !hasLongCharacters(body)) {
          const found = description.safeParse(body);
          expect(found.success, `OpenAPI is stricter: ${found.error?.message}`).toBe(true);
        }
        const faked = await ask(fake.handle, path, body);
        expect(faked.status).toBe(answer.status);
        // Banners differ between the service and the fake.
        if (path !== SYNC_PATH || !isTaken) expect(faked.body).toEqual(answer.body);
        fake.clear();
        verdicts[isTaken ? 'taken' : 'refused'] += 1;
      }),
      { numRuns: BODIES },
    );
    // A generator that makes only valid or only invalid bodies compares nothing.
    expect(Math.min(verdicts.taken, verdicts.refused)).toBeGreaterThan(BODIES / 10);
  });
});
