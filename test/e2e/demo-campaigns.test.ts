import { describe, expect, test } from 'vitest';
import content from '../../demo/workspace.json' with { type: 'json' };
import { previewVariant } from '../../src/service/campaigns/preview-variant.ts';
import { parseWorkspace } from '../../src/service/workspace/parse-workspace.ts';

const workspace = parseWorkspace(content);
const VARIANTS = workspace.campaigns.flatMap((campaign) =>
  campaign.variants.map(({ variantId }) => [campaign.campaignId, variantId, campaign] as const),
);

/** What a name that is missing leaves behind: a comma before nothing, two spaces, a space before a full stop. */
const GAP = /^[\s,]|[\s,]$|\s[,.!?]|,\s*[,.!?]|\s{2}/;

describe('a campaign of the demo leaves no gap where the name of somebody would be whom nobody knows', () => {
  test.each(VARIANTS)('%s, %s', (_, variantId, campaign) => {
    const shown = previewVariant({
      workspace,
      campaign,
      variantId,
      externalId: 'nobody-knows',
      profile: null,
      nowMs: 0,
    });
    const properties = shown && 'properties' in shown ? Object.values(shown.properties) : [];
    const texts = properties.flatMap(({ type, value }) => (type === 'string' ? [String(value)] : []));
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(text).not.toMatch(GAP);
  });
});
