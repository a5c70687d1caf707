import { benchToken, SIGNED_APP } from '../sync-tokens.ts';
import { type CostlyRequest, envelope, type Known, list, shapes, TIME } from './request.ts';

const SYNC = '/v1/device-messaging/banners/sync';
const TRACK = '/v1/device-messaging/banners/track';

export const ofClientKeys = ({ bannerId, effectBannerId, previewTokens }: Known): CostlyRequest[] => {
  const client = { sender: 'client', aimMs: 50 } as const;
  return [
    {
      ...client,
      what: 'sync of ten unknown placements',
      path: SYNC,
      body: { ...envelope, placements: list(10, (at) => `home_her${at}${'o'.repeat(50)}`) },
    },
    {
      ...client,
      workspace: 'near',
      what: 'sync of ten unknown placements, each of which is nearly one of 1,000 long ones',
      path: SYNC,
      // New names each time, because suggestions are cached for a minute.
      getBody: (n) => ({ ...envelope, placements: list(10, (at) => nearPlacement(at).slice(0, -3) + n) }),
    },
    {
      ...client,
      what: 'sync, 64 KB of shapes',
      path: SYNC,
      body: { ...envelope, placements: ['home'], x: shapes(480) },
    },
    {
      ...client,
      what: 'sync, as many placements as fit',
      path: SYNC,
      body: { ...envelope, placements: list(950, (at) => `p${at}`.padEnd(60, 'x')) },
    },
    {
      ...client,
      what: 'sync of the largest user, for ten placements with a hundred campaigns each',
      path: SYNC,
      body: { ...envelope, external_user_id: 'big-0', placements: list(10, (at) => `home_hero_${at + 1}`) },
    },
    {
      ...client,
      what: 'sync of a user with 100,000 impressions, under a frequency cap',
      path: SYNC,
      body: { ...envelope, external_user_id: 'looker', placements: ['capped'] },
    },
    {
      ...client,
      what: 'track, 1,000 sound events',
      path: TRACK,
      getBody: (n) => ({
        ...envelope,
        events: list(1_000, (at) => ({
          id: bannerId,
          event_type: 'click',
          timestamp: new Date(Date.parse(TIME) + n * 1_000 + at).toISOString(),
        })),
      }),
    },
    {
      ...client,
      what: 'track, 1,000 forged IDs',
      path: TRACK,
      body: {
        ...envelope,
        events: list(1_000, (at) => ({
          id: `${bannerId.slice(0, -12)}${String(at).padStart(4, '0')}abcdefgh`,
          event_type: 'click',
          timestamp: TIME,
        })),
      },
    },
    {
      ...client,
      what: 'track, 1,000 forged IDs of 400 letters',
      path: TRACK,
      getBody: (n) => ({
        ...envelope,
        events: list(1_000, (at) => ({
          id: `bnr_${`${n}x${at}x`.padEnd(396, 'a')}`,
          event_type: 'click',
          timestamp: TIME,
        })),
      }),
    },
    {
      ...client,
      what: 'track, 1,000 clicks of one user, each with an effect',
      path: TRACK,
      getBody: (n) => ({
        ...envelope,
        external_user_id: 'clicker',
        events: list(1_000, (at) => ({
          id: effectBannerId,
          event_type: 'click',
          timestamp: new Date(Date.parse(TIME) + n * 1_000 + at).toISOString(),
        })),
      }),
    },
    {
      ...client,
      what: 'track, 10,000 values',
      path: TRACK,
      body: { ...envelope, events: list(1_000, () => null), x: shapes(4_400) },
    },
    {
      ...client,
      what: '/placard/preview of a draft for as many placements as it may name',
      path: '/placard/preview',
      body: { token: previewTokens.placements },
    },
    {
      ...client,
      what: '/placard/preview of a draft with the longest texts',
      path: '/placard/preview',
      body: { token: previewTokens.texts },
    },
    {
      ...client,
      what: '/placard/visitors/join of a visitor with 20,000 events',
      path: '/placard/visitors/join',
      getBody: (n) => ({
        ...envelope,
        app_id: SIGNED_APP.app_id,
        external_user_id: `joined-${n}`,
        visitor_id: visitorId(n),
        user_token: benchToken(`joined-${n}`, n),
      }),
    },
  ];
};

export const VISITORS = 8;
export const visitorId = (n: number) =>
  `placard-visitor-1b9d6bcd-bbfd-4b2d-9b5d-${String(n).padStart(12, '0')}`;

/** Returns one of 1,000 placements of the workspace `near`. */
export const nearPlacement = (at: number) => `${'placement_with_a_long_name_'.repeat(2)}${1_000 + at}`;
