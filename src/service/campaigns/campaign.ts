import { createIssue, type Issue, type ReportIssue } from '../issues.ts';
import type { Conversion } from '../results/goals.ts';
import type { CampaignFile } from '../workspace/campaign-schema.ts';
import { type Audience, compileAudience } from './audience/audience.ts';
import { type Segments, withSegments } from './audience/segments.ts';
import { MAX_TEMPLATE_CHARACTERS, templateLength } from './personalise.ts';
import { compileVariant, type Variant } from './variant.ts';

/** How often one user gets a campaign; `null` is no limit. */
export interface Frequency {
  /** At most `max` impressions within so many days, today included. */
  impressions: { max: number; days: number } | null;
  /** Over after so many. Each of the campaign's `conversions` counts once. */
  stopAfter: { impressions: number | null; clicks: number | null; conversions: number | null };
}

/** A campaign of the workspace file after checking, its audience and templates compiled. */
export interface Campaign {
  campaignId: string;
  name: string;
  status: 'active' | 'draft' | 'stopped';
  placements: ReadonlySet<string>;
  priority: 'high' | 'medium' | 'low';
  /** Unix milliseconds, `null` for always. */
  startsAtMs: number | null;
  endsAtMs: number | null;
  /** When its release went live; `null` where it stands in the workspace file. */
  publishedAtMs: number | null;
  /** `null` is everyone. */
  audience: Audience | null;
  /** 0 to 100. */
  controlPercentage: number;
  /** `null`: once dismissed, never again. */
  reeligibleAfterMs: number | null;
  testUsers: ReadonlySet<string>;
  /** What counts as a success, as its results are asked for. */
  conversions: readonly Conversion[];
  /** By which the workspace's tag caps limit campaigns together. */
  tags: ReadonlySet<string>;
  /** `null` without a limit. */
  frequency: Frequency | null;
  /** Of the variants' properties; `null` where it says none, and is then in no language's results. */
  language: string | null;
  /** The others that a variant speaks. */
  languages: readonly string[];
  variants: readonly Variant[];
}

const HOUR_MS = 60 * 60 * 1000;
/** A conversion of the file, as results are asked for it. */
export const toConversion = ({
  event,
  product = '',
  within_hours,
}: NonNullable<CampaignFile['conversions']>[number]): Conversion => ({
  ...(event === undefined ? { product } : { event }),
  withinMs: within_hours * HOUR_MS,
});

const toFrequency = ({ impressions, stop_after }: NonNullable<CampaignFile['frequency']>): Frequency => ({
  impressions: impressions ?? null,
  stopAfter: {
    impressions: stop_after?.impressions ?? null,
    clicks: stop_after?.clicks ?? null,
    conversions: stop_after?.conversions ?? null,
  },
});

const tooLong = ({ variants }: CampaignFile): Issue | null => {
  const length = templateLength(variants.map(({ properties, translations }) => [properties, translations]));
  if (length <= MAX_TEMPLATE_CHARACTERS) return null;
  return createIssue('templates_too_long', { max: MAX_TEMPLATE_CHARACTERS, length });
};

/** Makes a checked campaign of the file ready. `problem` receives what does not compile, `warning` what cannot be meant. */
export const compileCampaign = (
  file: CampaignFile,
  problem: ReportIssue,
  warning: ReportIssue,
  publishedAtMs: number | null,
  segments: Segments,
): Campaign => {
  const audience =
    file.audience &&
    compileAudience(withSegments(file.audience, segments), (path, issue) =>
      problem(['audience', ...path], issue),
    );
  const length = tooLong(file);
  if (length !== null) problem(['variants'], length);
  // Templates that are too long are not even read.
  const variants = (length === null ? file.variants : []).map((variant, index) =>
    compileVariant(variant, file.language ?? null, ['variants', index], problem, warning),
  );
  return {
    campaignId: file.campaign_id,
    name: file.name ?? file.campaign_id,
    status: file.status,
    placements: new Set(file.placements),
    priority: file.priority ?? 'medium',
    startsAtMs: file.starts_at ?? null,
    endsAtMs: file.ends_at ?? null,
    publishedAtMs,
    audience: audience ?? null,
    controlPercentage: file.control_percentage ?? 0,
    reeligibleAfterMs:
      file.reeligible_after_hours === undefined ? null : file.reeligible_after_hours * HOUR_MS,
    testUsers: new Set(file.test_users ?? []),
    conversions: (file.conversions ?? []).map(toConversion),
    tags: new Set(file.tags ?? []),
    frequency: file.frequency ? toFrequency(file.frequency) : null,
    language: file.language ?? null,
    languages: [...new Set(variants.flatMap(({ translations }) => [...translations.keys()]))],
    variants,
  };
};
