import { NO_SEGMENTS, type Segments } from '../campaigns/audience/segments.ts';
import type { Campaign } from '../campaigns/campaign.ts';
import { compileCampaign } from '../campaigns/campaign.ts';
import { createIssue, type LocatedIssue } from '../issues.ts';
import { type CampaignFile, campaignFile } from './campaign-schema.ts';
import { toIssues } from './issues.ts';

/** Returns issues across fields: references and duplicate names. */
export const findCrossFieldIssues = (
  { variants, placements }: CampaignFile,
  placementIds: ReadonlySet<string> | null,
): LocatedIssue[] => {
  const variantIds = new Set<string>();
  return [
    ...variants.flatMap(({ variant_id }, index) => {
      const isRepeated = variantIds.has(variant_id);
      variantIds.add(variant_id);
      return isRepeated
        ? [
            {
              path: ['variants', index, 'variant_id'],
              ...createIssue('repeated', { value: variant_id }),
            },
          ]
        : [];
    }),
    ...placements.flatMap((id, index) =>
      placementIds === null || placementIds.has(id)
        ? []
        : [{ path: ['placements', index], ...createIssue('unknown_placement', { id }) }],
    ),
  ];
};

/** Compiled campaign with warnings, or its problems. */
type ReadCampaign =
  | { campaign: Campaign; problems: []; warnings: LocatedIssue[] }
  | { campaign: null; problems: LocatedIssue[]; warnings: LocatedIssue[] };

interface ReadOptions {
  /** Allowed placements; `null` allows any. */
  placementIds?: ReadonlySet<string> | null;
  segments?: Segments;
  /** Publication time of its release, in Unix milliseconds. */
  publishedAtMs?: number | null;
}

/** Validates and compiles one campaign of the workspace file. Returns no campaign if there are problems. */
export const readCampaign = (
  content: unknown,
  { placementIds = null, segments = NO_SEGMENTS, publishedAtMs = null }: ReadOptions,
): ReadCampaign => {
  const checked = campaignFile.safeParse(content, { reportInput: true });
  if (!checked.success) return { campaign: null, problems: toIssues(checked.error), warnings: [] };
  const problems = findCrossFieldIssues(checked.data, placementIds);
  const warnings: LocatedIssue[] = [];
  const campaign = compileCampaign(
    checked.data,
    (path, issue) => problems.push({ path, ...issue }),
    (path, issue) => warnings.push({ path, ...issue }),
    publishedAtMs,
    segments,
  );
  return problems.length > 0 ? { campaign: null, problems, warnings } : { campaign, problems: [], warnings };
};
