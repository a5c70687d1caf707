import type { Banner } from '../../src/client/index.ts';
import type { WireBanner } from '../../src/protocol/index.ts';

/** A banner of the placement `home_hero` that never expires. */
export const buildBanner = (changes: Partial<Banner> = {}): Banner => ({
  id: 'bnr-1',
  placementId: 'home_hero',
  isControl: false,
  isTestSend: false,
  expiresAt: null,
  properties: { headline: { type: 'string', value: 'Summer sale' } },
  ...changes,
});

export const getDismissal = ({ placementId, id: bannerId }: Banner) => ({ placementId, bannerId });

/** The same banner in the shape of a sync response. */
export const aWireBanner = (changes: Partial<WireBanner> = {}): WireBanner => ({
  id: 'bnr-1',
  placement_id: 'home_hero',
  is_control: false,
  is_test_send: false,
  expires_at: -1,
  properties: { headline: { type: 'string', value: 'Summer sale' } },
  ...changes,
});
