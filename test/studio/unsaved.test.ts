import { beforeEach, expect, test, vi } from 'vitest';
import type { CampaignText } from '../../src/studio/campaign/campaign-text.ts';
import { forgetUnsaved, keepUnsaved, unsavedOf } from '../../src/studio/pages/editor/unsaved.ts';
import { session } from '../../src/studio/pages/shell/session.ts';
import type { SessionAnswer } from '../../src/studio/server/routes/session.ts';

const campaign: CampaignText = { campaign_id: 'sale', status: 'active', placements: [], variants: [] };
const signInto = (id: string) => {
  session.value = { workspace: { id } } as SessionAnswer;
};

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => kept.set(key, text),
    removeItem: (key: string) => kept.delete(key),
  });
});

test('a change that was not saved comes back in its own workspace alone', () => {
  signInto('shop');
  keepUnsaved('sale', 'r1', campaign);
  signInto('test-shop');
  expect(unsavedOf('sale', 'r1')).toBeNull();
  forgetUnsaved('sale');
  signInto('shop');
  expect(unsavedOf('sale', 'r2')).toBeNull();
  expect(unsavedOf('sale', 'r1')).toEqual(campaign);
  forgetUnsaved('sale');
  expect(unsavedOf('sale', 'r1')).toBeNull();
});
