import type { CampaignFile } from '../workspace/file-schema.ts';
import { compileAudience } from './audience.ts';
import type { Campaign, Variant } from './campaign.ts';
import type { Frequency } from './frequency.ts';
import { compileProperty } from './personalise.ts';
import { compileProperties, type Property } from './write-properties.ts';

const HOUR_MS = 60 * 60 * 1000;

/** Receives what is wrong, at a path inside the campaign. */
export type Problem = (path: PropertyKey[], problem: string) => void;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const compileVariant = (
  variant: CampaignFile['variants'][number],
  path: PropertyKey[],
  problem: Problem,
  warning: Problem,
): Variant => ({
  variantId: variant.variant_id,
  weight: variant.weight ?? 1,
  expiresAfterSeconds: variant.expires_after_seconds ?? null,
  properties: compileProperties(
    Object.entries(variant.properties).flatMap(([name, property]): Property[] => {
      const here = [...path, 'properties', name, 'value'];
      try {
        const { type, value } = property;
        const fill = compileProperty(property, (text) => warning(here, text));
        return [fill === null ? { name, type, value } : { name, type, fill }];
      } catch (error) {
        problem(here, `expected a Liquid template, got one that fails: ${messageOf(error)}`);
        return [];
      }
    }),
  ),
});

const frequencyOf = ({ impressions, stop_after }: NonNullable<CampaignFile['frequency']>): Frequency => ({
  impressions: impressions ?? null,
  stopAfter: {
    impressions: stop_after?.impressions ?? null,
    clicks: stop_after?.clicks ?? null,
    conversions: stop_after?.conversions ?? null,
  },
});

/** Makes a checked campaign of the file ready. `problem` receives what does not compile, `warning` what cannot be meant. */
export const compileCampaign = (
  file: CampaignFile,
  problem: Problem,
  warning: Problem = () => undefined,
): Campaign => {
  const audience =
    file.audience && compileAudience(file.audience, (path, text) => problem(['audience', ...path], text));
  return {
    campaignId: file.campaign_id,
    name: file.name ?? file.campaign_id,
    status: file.status,
    placements: new Set(file.placements),
    priority: file.priority ?? 'medium',
    startsAtMs: file.starts_at ?? null,
    endsAtMs: file.ends_at ?? null,
    audience: audience ?? null,
    controlPercentage: file.control_percentage ?? 0,
    reeligibleAfterMs:
      file.reeligible_after_hours === undefined ? null : file.reeligible_after_hours * HOUR_MS,
    testUsers: new Set(file.test_users ?? []),
    conversions: (file.conversions ?? []).map(({ event, product = '', within_hours }) => ({
      ...(event === undefined ? { product } : { event }),
      withinMs: within_hours * HOUR_MS,
    })),
    tags: new Set(file.tags ?? []),
    frequency: file.frequency ? frequencyOf(file.frequency) : null,
    variants: file.variants.map((variant, index) =>
      compileVariant(variant, ['variants', index], problem, warning),
    ),
  };
};
