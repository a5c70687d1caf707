import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStudioData } from '../../demo/server/studio-data.ts';
import type { CampaignText } from '../../demo/studio/campaign-text.ts';
import workspace from '../../demo/workspace.json' with { type: 'json' };
import { openStore, type Store } from '../../src/service/index.ts';

const FILE = fileURLToPath(new URL('../../demo/workspace.json', import.meta.url));
const VARIANTS = (workspace.campaigns as CampaignText[]).flatMap((campaign) =>
  campaign.variants.map(({ variant_id }) => [campaign.campaign_id, variant_id, campaign] as const),
);

/** What a name that is missing leaves behind: a comma before nothing, two spaces, a space before a full stop. */
const GAP = /^[\s,]|[\s,]$|\s[,.!?]|,\s*[,.!?]|\s{2}/;

let store: Store;
beforeAll(async () => {
  store = await openStore(':memory:');
});
afterAll(() => store.close());

describe('a campaign of the demo leaves no gap where the name of somebody would be whom nobody knows', () => {
  test.each(VARIANTS)('%s, %s', async (_, variantId, campaign) => {
    const { banners } = await createStudioData(store, FILE).preview('nobody-knows', campaign, variantId);
    const texts = Object.values(banners).flatMap((banner) =>
      Object.values(banner?.properties ?? {}).flatMap(({ type, value }) =>
        type === 'string' ? [value] : [],
      ),
    );
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(text).not.toMatch(GAP);
  });
});
