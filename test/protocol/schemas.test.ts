import { describe, expect, it } from 'vitest';
import { errorBody, readErrorBody } from '../../src/protocol/index.ts';
import {
  bannersTrackRequest,
  bannersTrackResponse,
  integrationsResponse,
  syncRequest,
  syncResponse,
  usersTrackRequest,
  usersTrackResponse,
  usersTrackSuccess,
  wireBanner,
} from '../../src/protocol/schemas/index.ts';

/** Dotted paths of invalid values. Empty if the value is valid. */
const faults = (
  schema: { safeParse(value: unknown): { error?: { issues: { path: PropertyKey[] }[] } | undefined } },
  value: unknown,
) => schema.safeParse(value).error?.issues.map(({ path }) => path.join('.')) ?? [];

const banner = {
  id: 'bnr_01J9TQ4Z6Y8R2W5K7M3N1P0XQA',
  placement_id: 'checkout_top',
  is_control: false,
  is_test_send: false,
  expires_at: 1790812800,
  properties: {
    title: { type: 'string', value: 'Free delivery this week' },
    discount: { type: 'number', value: 12.5 },
    sticky: { type: 'boolean', value: true },
    art: { type: 'image', value: 'https://cdn.example.com/b/17.png' },
    layout: { type: 'jsonobject', value: { ratio: '16:9', cols: 2 } },
    starts: { type: 'datetime', value: 1790208000000 },
  },
};

describe('the response of banners/sync', () => {
  it('contract 2.5: parses the documented example', () => {
    const answer = { banners: { checkout_top: banner, profile_footer: null } };
    expect(syncResponse.parse(answer)).toEqual(answer);
  });

  it('parses missing flags as false and accepts unknown members', () => {
    const { is_control, is_test_send, ...rest } = banner;
    expect(wireBanner.parse({ ...rest, html: '<b>' })).toEqual({ ...banner, is_control, is_test_send });
    expect(syncResponse.safeParse({ banners: {}, more: 1 }).success).toBe(true);
  });

  it('keeps a property of an unknown type or with a mismatched value, without affecting others', () => {
    const properties = {
      ...banner.properties,
      odd: { type: 'video', value: [1] },
      wrong: { type: 'number', value: 'x' },
    };
    expect(wireBanner.parse({ ...banner, properties }).properties).toEqual(properties);
  });

  it('allows a control banner without properties', () => {
    expect(faults(wireBanner, { ...banner, is_control: true, properties: null })).toEqual([]);
  });

  it.each([
    ['a non-string id', { id: 5 }, 'id'],
    ['an empty id', { id: '' }, 'id'],
    ['an expiry as a string', { expires_at: '2026-01-01' }, 'expires_at'],
    ['properties in an array', { properties: [] }, 'properties'],
    ['a property without a type', { properties: { a: { value: 1 } } }, 'properties.a.type'],
  ])('rejects a banner with %s', (_, change, path) => {
    expect(faults(wireBanner, { ...banner, ...change })).toEqual([path]);
  });

  it('contains each banner under its placement', () => {
    expect(faults(syncResponse, { banners: { another: banner } })).toEqual(['banners']);
  });

  it.each([null, [], 'text', {}, { banners: null }, { banners: [] }])(
    'rejects %j as a response',
    (answer) => {
      expect(faults(syncResponse, answer).length).toBeGreaterThan(0);
    },
  );
});

describe('requests of the banner endpoints', () => {
  const envelope = { external_user_id: 'u', app_id: 'a', app_version: '1' };

  it.each([
    [syncRequest, { ...envelope, placements: ['p'] }],
    [syncRequest, { ...envelope, placements: ['p'], device_id: 'd' }],
    [
      bannersTrackRequest,
      { ...envelope, events: [{ id: 'b', event_type: 'click', timestamp: '2026-03-01T10:20:07.903+01:00' }] },
    ],
  ])('contract 2.5 and 2.6: are accepted as documented', (schema, request) => {
    expect(schema.parse(request)).toEqual(request);
  });

  it('report missing members', () => {
    expect(faults(syncRequest, {})).toEqual(['external_user_id', 'app_id', 'app_version', 'placements']);
    expect(faults(bannersTrackRequest, {})).toEqual(['external_user_id', 'app_id', 'app_version', 'events']);
  });
});

describe('the response of banners/track', () => {
  it.each([
    { events_processed: 3, message: 'success' },
    { events_processed: 2, message: 'success', errors: [{ type: "'timestamp' is required", index: 1 }] },
    { message: 'success', errors: ['text', null, { index: -1 }] },
  ])('contract 2.6: parses any value of errors: %j', (answer) => {
    expect(bannersTrackResponse.parse(answer)).toEqual(answer);
  });

  it.each([null, 'OK', [], {}, { events_processed: 3 }, { message: 'success', errors: {} }])(
    'rejects %j',
    (answer) => {
      expect(faults(bannersTrackResponse, answer).length).toBeGreaterThan(0);
    },
  );
});

describe('users/track', () => {
  it('contract 2.2: accepts the documented request unchanged', () => {
    const request = {
      attributes: [
        {
          external_id: 'u-771',
          email: 'kim@example.org',
          tier: 'gold',
          visits: { inc: 1 },
          tags: { add: ['vip'] },
        },
        {
          user_alias: { alias_name: 'crm-90', alias_label: 'crm' },
          _update_existing_only: false,
          language: 'pl',
        },
      ],
      events: [
        {
          external_id: 'u-771',
          name: 'quiz_done',
          time: '2026-03-01T09:15:00.000Z',
          properties: { score: 8, round: { no: 2 } },
        },
      ],
      purchases: [
        { external_id: 5, product_id: 7, currency: 'EUR', price: 1.5, time: '2026-03-01T09:15:00Z' },
      ],
    };
    expect(usersTrackRequest.parse(request)).toEqual(request);
  });

  it('parses responses with and without counts, and errors of any kind', () => {
    expect(faults(usersTrackResponse, { message: 'queued' })).toEqual([]);
    expect(
      faults(usersTrackResponse, { message: 'success', events_processed: 1, errors: ['a', {}] }),
    ).toEqual([]);
    expect(faults(usersTrackResponse, { events_processed: 1 })).toEqual(['message']);
  });

  it('treats an invalid count as missing, so that a backend can parse the response partially', () => {
    const answer = { message: 'success', attributes_processed: 2, events_processed: null, errors: null };
    expect(usersTrackSuccess.parse(answer)).toEqual({ ...answer, events_processed: undefined });
    expect(faults(usersTrackSuccess, { errors: [] })).toEqual(['message']);
  });
});

describe('the list of integrations', () => {
  it('accepts null for missing text, and rejects an integration without an ID', () => {
    const parsed = integrationsResponse.parse({
      results: [{ ...Object.fromEntries(NULLABLE.map((name) => [name, null])), integration_id: 'i' }],
      message: 'success',
    });
    for (const name of NULLABLE) expect(parsed.results[0]).toHaveProperty(name, '');
    expect(faults(integrationsResponse, { results: [{}], message: 'success' })).toContain(
      'results.0.integration_id',
    );
  });
});
const NULLABLE = [
  'app_group_id',
  'integration_name',
  'integration_type',
  'integration_status',
  'contact_emails',
  'last_updated_at',
  'warehouse_type',
  'last_job_start_time',
  'last_job_status',
  'next_scheduled_run',
];

describe('error responses', () => {
  it('contract 5: contain the members of their endpoint', () => {
    expect(errorBody('sync', 'No')).toEqual({ error: 'No' });
    expect(errorBody('track', 'No')).toEqual({ message: 'No' });
    expect(errorBody('general', 'No')).toEqual({ message: 'No', errors: [{ type: 'No' }] });
  });

  it('are parsed from any endpoint', () => {
    expect(readErrorBody(errorBody('sync', 'No'))).toEqual({ text: 'No', errors: [] });
    expect(readErrorBody(errorBody('track', 'No'))).toEqual({ text: 'No', errors: [] });
    expect(readErrorBody(errorBody('general', 'No'))).toEqual({ text: 'No', errors: [{ type: 'No' }] });
  });

  it.each([undefined, null, '<html>', 5, [], {}, { message: 5, error: {}, errors: 'x' }])(
    'are parsed if members are missing or invalid: %j',
    (body) => {
      expect(readErrorBody(body)).toEqual({ text: undefined, errors: [] });
    },
  );
});
