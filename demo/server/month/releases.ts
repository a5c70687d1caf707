// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import type { CampaignJson } from '../../../src/studio/index.ts';

/** Action of a marketer on a day of the month. */
export type Deed = { day: number; note: string } & (
  | { publish: CampaignJson }
  /** `backTo` is the number of the release to roll back to. */
  | { backTo: number; campaignId: string }
);

const text = (value: string) => ({ type: 'string' as const, value });

/** Returns a test with an SRM. `TAKEN` in `people.ts` causes fewer impressions of one variant than planned. */
const deliveryTest = (endsAt: string): CampaignJson => ({
  campaign_id: 'delivery-test',
  name: 'Free delivery: from 40 or from 60?',
  status: 'active',
  placements: ['checkout_strip'],
  priority: 'high',
  ends_at: endsAt,
  conversions: [{ event: 'added_to_cart', within_hours: 48 }],
  variants: [
    {
      variant_id: 'from-60',
      name: 'From 60',
      properties: {
        headline: text('Free delivery from 60'),
        button_text: text('Find one more'),
        link: text('/#/product/bowl'),
      },
    },
    {
      variant_id: 'from-40',
      name: 'From 40',
      properties: {
        headline: text('Free delivery from 40'),
        button_text: text('Find one more'),
        link: text('/#/product/plate'),
      },
    },
  ],
});

/** German texts of the spring collection. The Studio shows a warning, because the shelf's image is not translated. */
const GERMAN: Record<string, Record<string, string>> = {
  kiln: {
    headline: "Frisch aus dem Ofen, {{${first_name} | default: 'und für lange'}}",
    body: 'Vierzig neue Stücke für den Tisch, von Hand gedreht und glasiert.',
    button_text: 'Zur Kollektion',
    image_alt: 'Keramik vor einem glühenden Ofen',
  },
  shelf: {
    headline: 'Platz auf dem Regal{% if ${first_name} %}, {{${first_name}}}{% endif %}',
    body: 'Neue Schalen, Becher und Vasen in vier ruhigen Farben.',
    button_text: 'Neues ansehen',
  },
};

/**
 * Returns the actions of the month in order. The final campaigns equal those of the workspace file except for goals and German,
 * so that visitors get the same banners with and without sample data.
 */
export const monthDeeds = (
  inFile: (campaignId: string) => CampaignJson,
  formatDate: (day: number) => string,
): Deed[] => {
  const inEnglish = inFile('spring-collection');
  const spring: CampaignJson = {
    ...inEnglish,
    language: 'en',
    variants: inEnglish.variants.map((variant) => ({
      ...variant,
      translations: { de: GERMAN[variant.variant_id] ?? {} },
    })),
    conversions: [{ event: 'added_to_cart', within_hours: 72 }],
    target_sample_size: 2_000,
  };
  const gift: CampaignJson = {
    ...inFile('gift-wrap'),
    conversions: [{ product: 'candle', within_hours: 72 }],
    target_sample_size: 2_000,
  };
  const shouting: CampaignJson = {
    ...spring,
    variants: spring.variants.map((variant) => ({
      ...variant,
      properties: {
        ...variant.properties,
        body: text('FORTY new pieces!!! 50 % off everything, today only.'),
      },
    })),
  };
  return [
    { day: 0, note: 'Kiln or shelf? The shelf should fill more carts.', publish: spring },
    { day: 0, note: 'Does gift wrapping sell candlesticks?', publish: gift },
    { day: 3, note: 'Nine days are enough to know.', publish: deliveryTest(formatDate(12)) },
    { day: 14, note: 'Louder, for the weekend.', publish: shouting },
    {
      day: 15,
      note: 'There never was a discount. Back to what it said.',
      backTo: 1,
      campaignId: 'spring-collection',
    },
  ];
};
