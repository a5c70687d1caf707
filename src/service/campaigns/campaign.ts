import { HOUR_MS } from '../../protocol/index.ts';
import { createIssue, type Issue, type ReportIssue } from '../issues.ts';
import type { Goal } from '../results/goals.ts';
import type { CampaignFile } from '../workspace/campaign-schema.ts';
import { type Audience, compileAudience } from './audience/audience.ts';
import { type Segments, withSegments } from './audience/segments.ts';
import { MAX_TEMPLATE_CHARACTERS, templateLength } from './personalise.ts';
import { compileVariant, type Variant } from './variant.ts';

/** Frequency caps of a campaign; `null` means no limit. */
export interface Frequency {
  /** Maximum number of impressions within `days` days, including today. */
  impressions: { max: number; days: number } | null;
  /** Numbers of events after which the campaign ends for a user. Each of the campaign's `conversions` counts once. */
  stopAfter: { impressions: number | null; clicks: number | null; conversions: number | null };
}

/** Validated campaign with compiled audience and templates. */
export interface Campaign {
  campaignId: string;
  name: string;
  status: CampaignFile['status'];
  placements: ReadonlySet<string>;
  priority: NonNullable<CampaignFile['priority']>;
  /** Start and end in Unix milliseconds; `null` if unbounded. */
  startsAtMs: number | null;
  endsAtMs: number | null;
  /** Publication of the campaign's release, in Unix milliseconds; `null` if the campaign is in the workspace file. */
  publishedAtMs: number | null;
  /** Audience of the campaign; `null` for all users. */
  audience: Audience | null;
  /** Size of the control group, from 0 to 100. */
  controlPercentage: number;
  /** Time after a dismissal until the user is eligible again, in milliseconds; `null` for never. */
  reeligibleAfterMs: number | null;
  testUsers: ReadonlySet<string>;
  goals: readonly Goal[];
  /** Tags to which the workspace's tag caps apply. */
  tags: ReadonlySet<string>;
  frequency: Frequency | null;
  /** Language of the variants' properties; `null` if not set, so that results have no language. */
  language: string | null;
  /** Languages of the translations. */
  languages: readonly string[];
  variants: readonly Variant[];
}

/** Reads a goal of the workspace file. */
export const readGoal = ({
  event,
  product = '',
  within_hours,
}: NonNullable<CampaignFile['conversions']>[number]): Goal => ({
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

/** Compiles a validated campaign of the file. Calls `problem` with errors and `warning` with likely mistakes. */
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
  // Skips the variants if their templates are too long to parse.
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
    goals: (file.conversions ?? []).map(readGoal),
    tags: new Set(file.tags ?? []),
    frequency: file.frequency ? toFrequency(file.frequency) : null,
    language: file.language ?? null,
    languages: [...new Set(variants.flatMap(({ translations }) => [...translations.keys()]))],
    variants,
  };
};
