import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENT_PERMISSIONS, SERVER_PERMISSIONS } from '../../src/protocol/index.ts';
import { openStore, type Store } from '../../src/service/index.ts';
import { APP_ID, aCampaign, aVariant, aWorkspace } from '../helpers/a-workspace.ts';
import { API_ROUTES, NO_LIMITS } from '../helpers/api-routes.ts';
import { type Answered, type RunningService, runService } from '../helpers/running-service.ts';

/** Part of every key and personal value in these requests, and of nothing else. The digits are the phone number's. */
const MARK = /zq7x|7007007/i;
const CLIENT_KEY = 'zq7x-client-key';
const SERVER_KEY = 'zq7x-server-key';
const ID = 'u-zq7x';
const EMAIL = 'Kim.zq7x@zq7x.example';
const PHONE = '+49 170 070 0700-7';
const alias = { alias_name: 'zq7x', alias_label: 'label-zq7x' };
const AT = '2026-03-01T08:00:00Z';

const profile = {
  external_id: ID,
  email: EMAIL,
  phone: PHONE,
  first_name: 'Zq7xa',
  last_name: 'Zq7xb',
  'custom-zq7x': 'zq7x',
  push_tokens: [{ app_id: APP_ID, token: 'token-zq7x', device_id: 'device-zq7x' }],
};
const track = {
  attributes: [profile, { user_alias: alias, email: EMAIL }],
  events: [{ external_id: ID, name: 'event-zq7x', time: AT, properties: { secret: 'zq7x' } }],
  purchases: [{ email: EMAIL, product_id: 'zq7x', currency: 'EUR', price: 1, time: AT }],
};
const badTrack = {
  attributes: [
    { ...profile, email: 'zq7x', phone: 'zq7x', 'bad-zq7x': { $add: 'zq7x' }, dob: 'zq7x' },
    'zq7x',
  ],
  events: [{ user_alias: { alias_name: 'zq7x' }, name: 7, time: 'zq7x' }],
  purchases: [
    { external_id: 'zq7x'.repeat(300), product_id: 'zq7x', currency: 'zq7x', price: 'zq7x', time: AT },
  ],
};
const envelope = { external_user_id: ID, app_id: APP_ID, app_version: '1.0-zq7x' };
const rules = { prioritization: ['identified', 'most_recently_updated'] };

interface Example {
  body: unknown;
  bad: unknown;
  /** Status of the valid body. Default: that of the route. */
  ok?: number;
  /** Status of the valid body while the store fails. Default 500. */
  failed?: number;
}

/** Returns bodies with personal values by the path of the route. Every route with a body needs one. */
const getExamples = (bannerId: string): Record<string, Example> => ({
  '/users/track': { body: track, bad: badTrack },
  '/users/track/bulk': { body: track, bad: badTrack },
  '/users/alias/new': {
    body: { user_aliases: [{ ...alias, external_id: ID }] },
    bad: { user_aliases: [{ alias_name: 'zq7x' }] },
  },
  '/users/identify': {
    body: {
      aliases_to_identify: [{ external_id: ID, user_alias: alias }],
      emails_to_identify: [{ external_id: ID, email: EMAIL, ...rules }],
      phone_numbers_to_identify: [{ external_id: ID, phone: PHONE, ...rules }],
    },
    bad: { emails_to_identify: [{ external_id: ID, email: 'zq7x', prioritization: ['zq7x'] }] },
  },
  '/users/merge': {
    body: {
      merge_updates: [
        { identifier_to_merge: { email: EMAIL, ...rules }, identifier_to_keep: { external_id: ID } },
        { identifier_to_merge: { phone: PHONE, ...rules }, identifier_to_keep: { user_alias: alias } },
      ],
    },
    bad: { merge_updates: [{ identifier_to_merge: { email: 7, zq7x: 'zq7x' }, identifier_to_keep: ID }] },
  },
  '/users/export/ids': {
    body: { external_ids: [ID, 'nobody-zq7x'], user_aliases: [alias] },
    bad: { external_ids: [ID], fields_to_export: ['zq7x'] },
  },
  '/users/delete': { body: { external_ids: ['nobody-zq7x'] }, bad: { external_ids: [{ zq7x: EMAIL }] } },
  '/campaigns/translations': {
    body: {
      campaign_id: 'zq7x',
      message_variation_id: 'zq7x',
      locale_id: 'zq7x',
      translation_map: { zq7x: EMAIL },
    },
    bad: { campaign_id: EMAIL, translation_map: 'zq7x' },
    ok: 400,
    failed: 400,
  },
  '/v1/device-messaging/banners/sync': {
    body: { ...envelope, placements: ['home', 'broken', EMAIL], device_id: 'device-zq7x' },
    bad: { ...envelope, app_id: 'zq7x', placements: ['home'] },
  },
  '/v1/device-messaging/banners/track': {
    body: {
      ...envelope,
      events: [
        { id: bannerId, event_type: 'impression', timestamp: AT },
        { id: 'zq7x', event_type: 'click', timestamp: AT },
      ],
    },
    bad: { ...envelope, events: [{ id: 'zq7x', event_type: 'zq7x', timestamp: 'zq7x' }] },
  },
  '/placard/visitors/join': {
    body: { ...envelope, visitor_id: 'placard-visitor-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed' },
    bad: { ...envelope, visitor_id: 'zq7x' },
    ok: 403,
    failed: 403,
  },
  '/placard/explain': {
    body: { external_user_id: ID, placements: ['home', EMAIL] },
    bad: { external_user_id: ID, placements: 'zq7x' },
  },
  '/placard/preview': { body: { token: 'zq7x' }, bad: { token: { zq7x: EMAIL } }, ok: 401, failed: 401 },
  '/placard/placements': { body: { missing: ['zq7x'] }, bad: { missing: { zq7x: EMAIL } }, failed: 200 },
});

describe('keys and personal values do not appear', () => {
  let service: RunningService;
  let isBroken = false;
  const answers: { name: string; answer: Answered }[] = [];
  const ask = async (
    name: string,
    method: string,
    path: string,
    more: Parameters<RunningService['call']>[2],
  ) => {
    const answer = await service.call(method, path, more);
    answers.push({ name: `${name}: ${method} ${path}`, answer });
    return answer.status;
  };

  /** Store that fails as a database does, with the row quoted in the message. */
  const breaking = (store: Store): Store => {
    const fail = async (): Promise<never> => {
      const cause = new Error(`Key (email)=(${EMAIL}) of ${ID} already exists`);
      throw Object.assign(new Error(`cannot write ${EMAIL}`, { cause }), { detail: EMAIL, row: profile });
    };
    return {
      ...store,
      write: (work) => (isBroken ? fail() : store.write(work)),
      loadTargetingData: (...user) => (isBroken ? fail() : store.loadTargetingData(...user)),
      readUsers: (...wanted) => (isBroken ? fail() : store.readUsers(...wanted)),
    };
  };

  beforeAll(async () => {
    // A name is not a number, so rendering fails and is logged.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Liquid of the contract writes attributes so
    const broken = { headline: { type: 'number', value: '{{${first_name}}}' } };
    const workspace = aWorkspace({
      api_keys: [
        { type: 'client', key: CLIENT_KEY, permissions: CLIENT_PERMISSIONS },
        { type: 'server', key: SERVER_KEY, permissions: SERVER_PERMISSIONS },
      ],
      integrations: [],
      limits: NO_LIMITS,
      campaigns: [
        aCampaign(),
        aCampaign({
          campaign_id: 'broken',
          placements: ['broken'],
          variants: [aVariant({ properties: broken })],
        }),
      ],
    });
    service = await runService([workspace], { store: breaking(await openStore(':memory:')) });
    const first = await service.call('POST', '/v1/device-messaging/banners/sync', {
      key: CLIENT_KEY,
      body: { ...envelope, placements: ['home'] },
    });
    const examples = getExamples(first.body.banners.home.id);
    const requests = API_ROUTES.map((route) => {
      const example = examples[route.path];
      if (route.body && !example) throw new Error(`${route.path} needs an example in this test`);
      const path = route.path.replaceAll(/\{\w+\}/g, 'zq7x');
      const { method } = route;
      const sent = route.body ? example : undefined;
      return {
        method,
        path,
        key: route.crossOrigin ? CLIENT_KEY : SERVER_KEY,
        ok: route.response.status,
        ...sent,
      };
    });
    const writing = requests.filter(({ body }) => body !== undefined);
    for (const { method, path, key, ok, body, bad } of writing) {
      expect([path, await ask('right', method, path, { key, body })]).toEqual([path, ok]);
      expect(await ask('wrong members', method, path, { key, body: bad })).toBeOneOf([ok, 400]);
    }
    isBroken = true;
    for (const { method, path, key, body, failed = 500 } of writing) {
      expect([path, await ask('a store that fails', method, path, { key, body })]).toEqual([path, failed]);
    }
    isBroken = false;
    for (const { method, path, key, body } of requests) {
      const other = key === CLIENT_KEY ? SERVER_KEY : CLIENT_KEY;
      await ask('a key of the other kind', method, path, { key: other, body });
      await ask('an unknown key', method, path, { key: 'zq7x-nobody', body });
      await ask('another scheme', method, path, { headers: { authorization: SERVER_KEY }, body });
      await ask('another method', 'DELETE', path, { key, body: profile });
      for (const name of ['campaign_id', 'segment_id', 'event', 'cursor'])
        await ask('a query', method, `${path}?${name}=zq7x&length=7&email=${EMAIL}`, { key, body });
      await ask('headers', method, path, {
        key,
        body,
        headers: { 'x-forwarded-for': 'zq7x', cookie: EMAIL },
      });
      await ask('an unknown path', method, `${path}/${EMAIL}`, { key, body });
      if (body === undefined) continue;
      await ask('broken JSON', method, path, { key, body: `{"email":"${EMAIL}",` });
      await ask('another media type', method, path, { key, body, headers: { 'content-type': 'text/zq7x' } });
      await ask('a body that is too large', method, path, {
        key,
        body: { ...profile, filler: 'zq7x'.repeat(1_100_000) },
      });
    }
    expect(await ask('right', 'GET', '/cdi/integrations', { key: SERVER_KEY })).toBe(200);
  });
  afterAll(() => service.stop());

  test('in logs at the lowest level, for any request and response', () => {
    const { lines } = service;
    // Every response has a log line, so none is skipped by accident.
    expect(lines.filter(({ message }) => message === 'request handled')).toHaveLength(answers.length + 1);
    const failed = answers.filter(({ answer }) => answer.status === 500);
    expect(failed.length).toBeGreaterThan(8);
    expect(lines.filter(({ message }) => message === 'request failed')).toHaveLength(failed.length);
    expect(lines.filter(({ placement }) => placement === '(invalid name)')).toHaveLength(1);
    expect(lines.map(({ message }) => message)).toContain('banner not shown: a property cannot be rendered');
    expect(new Set(answers.map(({ answer }) => answer.status))).toEqual(
      new Set([200, 201, 202, 400, 401, 403, 404, 405, 413, 415, 500]),
    );
    const telling = lines.filter((line) => MARK.test(inspect(line, { depth: null })));
    expect(telling).toEqual([]);
  });

  test('in response headers', () => {
    const telling = answers.filter(({ answer }) => MARK.test(inspect([...answer.headers])));
    expect(telling.map(({ name }) => name)).toEqual([]);
  });

  test('on operator pages', async () => {
    for (const path of ['/metrics', '/healthz', '/readyz', '/openapi.json', '/docs']) {
      const { status, headers, body } = await service.call('GET', path);
      expect([path, status]).toEqual([path, 200]);
      expect(inspect([[...headers], body], { depth: null, maxStringLength: null })).not.toMatch(MARK);
    }
  });
});
