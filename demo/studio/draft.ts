import type { CampaignText, PropertyText } from './campaign-text.ts';

/** A campaign being edited. The original stays as it is; nothing leaves the page but what is copied. */
export const createDraft = (original: CampaignText) => {
  let campaign = structuredClone(original);
  const variantOf = (variantId: string) =>
    campaign.variants.find(({ variant_id }) => variant_id === variantId);

  return {
    campaign: (): CampaignText => campaign,
    properties: (variantId: string) => variantOf(variantId)?.properties ?? {},
    set(variantId: string, name: string, property: PropertyText) {
      const variant = variantOf(variantId);
      if (variant) variant.properties = { ...variant.properties, [name]: property };
    },
    remove(variantId: string, name: string) {
      const variant = variantOf(variantId);
      if (variant) delete variant.properties[name];
    },
    isChanged: () => JSON.stringify(campaign) !== JSON.stringify(original),
    reset() {
      campaign = structuredClone(original);
    },
    /** As it would stand in a workspace file. */
    json: () => JSON.stringify(campaign, null, 2),
  };
};
export type Draft = ReturnType<typeof createDraft>;
