import { createHash } from 'node:crypto';
import { isRecord } from '../../protocol/index.ts';
import { segmentProblems } from '../campaigns/audience/segments.ts';
import { compileCampaign, readGoal } from '../campaigns/campaign.ts';
import { createIssue, type LocatedIssue, type ReportIssue } from '../issues.ts';
import { toHoldoutId } from '../profiles/holdout-id.ts';
import { findUnprotectedApps, type ReadKeyFile, toUserTokens } from '../user-tokens/public-keys.ts';
import { createZonedCalendar } from '../zoned-calendar.ts';
import { type WorkspaceFile, workspaceFile } from './file-schema.ts';
import { type IntegrationFile, toSchedule } from './integration-schema.ts';
import { toIssues, WorkspaceError } from './issues.ts';
import { lowLimits, toRateLimits, toUserLimits } from './limits.ts';
import { findCrossFieldIssues } from './read-campaign.ts';
import { toOperator, toStudioSettings } from './studio-settings.ts';
import { toWebhook } from './webhook-schema.ts';
import type { ApiKey, InsertionPoint, Workspace, WorkspaceIntegration } from './workspace.ts';

/** Returns the positions of repeated values. */
const findDuplicates = (values: string[]): number[] =>
  values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));

const getKeyHash = ({ key, key_sha256 }: WorkspaceFile['api_keys'][number]): Uint8Array =>
  key === undefined ? Buffer.from(key_sha256 ?? '', 'hex') : createHash('sha256').update(key).digest();

/** Returns issues across fields: references and duplicates. */
const crossFieldIssues = (file: WorkspaceFile): LocatedIssue[] => {
  const campaigns = file.campaigns ?? [];
  const unique = (list: string, field: string, values: string[]) =>
    findDuplicates(values).map((index) => ({
      path: [list, index, field],
      ...createIssue('repeated', { value: values[index]! }),
    }));
  const hashes = file.api_keys.map((key) => Buffer.from(getKeyHash(key)).toString('hex'));
  const placements = file.placements && new Set(file.placements.map(({ placement_id }) => placement_id));
  return [
    ...findDuplicates(hashes).map((index) => ({
      path: ['api_keys', index],
      ...createIssue('duplicate_key', {}),
    })),
    ...unique(
      'apps',
      'app_id',
      file.apps.map(({ app_id }) => app_id),
    ),
    ...unique(
      'placements',
      'placement_id',
      (file.placements ?? []).map(({ placement_id }) => placement_id),
    ),
    ...unique(
      'campaigns',
      'campaign_id',
      campaigns.map(({ campaign_id }) => campaign_id),
    ),
    ...unique(
      'segments',
      'segment_id',
      (file.segments ?? []).map(({ segment_id }) => segment_id),
    ),
    ...(file.segments ?? []).flatMap(({ audience }, index) =>
      segmentProblems(audience).map((issue) => ({
        ...issue,
        path: ['segments', index, 'audience', ...issue.path],
      })),
    ),
    ...unique(
      'integrations',
      'integration_id',
      (file.integrations ?? []).map(({ integration_id }) => integration_id),
    ),
    ...unique(
      'webhooks',
      'webhook_id',
      (file.webhooks ?? []).map(({ webhook_id }) => webhook_id),
    ),
    ...unique(
      'subscription_groups',
      'subscription_group_id',
      // Compares IDs case-insensitively, as in requests.
      (file.subscription_groups ?? []).map(({ subscription_group_id }) =>
        subscription_group_id.toLowerCase(),
      ),
    ),
    ...unique(
      'operators',
      'name',
      (file.operators ?? []).map(({ name }) => name),
    ),
    ...campaigns.flatMap((campaign, index) =>
      findCrossFieldIssues(campaign, placements ?? null).map((issue) => ({
        ...issue,
        path: ['campaigns', index, ...issue.path],
      })),
    ),
  ];
};

const toIntegration = (
  record: IntegrationFile,
  workspaceId: string,
  folder: string,
): WorkspaceIntegration => ({
  source: record.source ? { ...record.source, folder } : null,
  schedule: toSchedule(record),
  record: {
    integration_id: record.integration_id,
    app_group_id: record.app_group_id ?? workspaceId,
    integration_name: record.integration_name ?? '',
    integration_type: record.integration_type ?? record.source?.rows ?? '',
    integration_status: record.integration_status ?? '',
    contact_emails: record.contact_emails ?? '',
    last_updated_at: record.last_updated_at ?? '',
    warehouse_type: record.warehouse_type ?? record.source?.kind ?? '',
    last_job_start_time: record.last_job_start_time ?? '',
    last_job_status: record.last_job_status ?? '',
    next_scheduled_run: record.next_scheduled_run ?? '',
  },
});

const toApiKey = (key: WorkspaceFile['api_keys'][number], index: number): ApiKey => ({
  name: key.name ?? `api_keys[${index}]`,
  type: key.type,
  hash: getKeyHash(key),
  permissions: new Set(key.permissions),
});

/** Returns a hash of everything that decides about banners: parts of the file, and its live releases. */
export const hashRelease = (...parts: unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

/** Returns the campaigns without defaults and conversions, as edited in the Studio. */
const getRawCampaigns = (content: unknown): Record<string, unknown>[] =>
  isRecord(content) && Array.isArray(content['campaigns']) ? content['campaigns'].filter(isRecord) : [];

/** Template heights in CSS pixels for boxes below and from 48 rem. Other templates are 344 high in both. */
const HEIGHTS_PX: Readonly<Record<string, readonly [number, number]>> = {
  strip: [104, 64],
  hero: [448, 352],
};

const toInsertionPoint = (
  placement: NonNullable<WorkspaceFile['placements']>[number],
): InsertionPoint | null => {
  const { selector, template, insert = 'after', paths = ['*'], height_px, wide_height_px } = placement;
  if (selector === undefined) return null;
  const [narrow, wide] = HEIGHTS_PX[template ?? ''] ?? [344, 344];
  return {
    selector,
    insert,
    paths,
    heightPx: height_px ?? narrow,
    wideHeightPx: wide_height_px ?? height_px ?? wide,
  };
};

/**
 * Returns the workspace of a parsed file. `source` is the file name for messages, `readKeyFile` reads a public-key file, `folder`
 * is the base folder of source files. Throws a `WorkspaceError` with all issues of the shape or, if the shape is valid, all
 * issues across fields.
 */
export const parseWorkspace = (
  content: unknown,
  source = 'workspace',
  readKeyFile: ReadKeyFile = () => null,
  folder = '.',
): Workspace => {
  const checked = workspaceFile.safeParse(content, { reportInput: true });
  if (!checked.success) throw new WorkspaceError(source, toIssues(checked.error));
  const file = checked.data;
  const issues = crossFieldIssues(file);
  const warnings = [...lowLimits(file), ...findUnprotectedApps(file.apps)];
  const segments = new Map(
    (file.segments ?? []).map(({ segment_id: segmentId, name, audience }) => [
      segmentId,
      { segmentId, name: name ?? segmentId, filter: audience },
    ]),
  );
  const campaigns = (file.campaigns ?? []).map((campaign, index) => {
    const addTo =
      (list: LocatedIssue[]): ReportIssue =>
      (path, issue) => {
        list.push({ path: ['campaigns', index, ...path], ...issue });
      };
    return compileCampaign(campaign, addTo(issues), addTo(warnings), null, segments);
  });
  const userTokens = toUserTokens(file.workspace_id, file.apps, readKeyFile, (path, issue) => {
    issues.push({ path: ['apps', ...path], ...issue });
  });
  if (issues.length > 0) throw new WorkspaceError(source, issues, true);
  return {
    workspaceId: file.workspace_id,
    name: file.name ?? file.workspace_id,
    apiKeys: file.api_keys.map(toApiKey),
    apps: file.apps.map(({ app_id, name }) => ({ appId: app_id, name: name ?? app_id })),
    appIds: new Set(file.apps.map(({ app_id }) => app_id)),
    appPlatforms: new Map(file.apps.map(({ app_id, platform }) => [app_id, platform ?? ''])),
    userTokens,
    integrations:
      file.integrations?.map((record) => toIntegration(record, file.workspace_id, folder)) ?? null,
    webhooks: (file.webhooks ?? []).map(toWebhook),
    subscriptionGroups: new Map(
      (file.subscription_groups ?? []).map(({ subscription_group_id, name, channel }) => [
        subscription_group_id.toLowerCase(),
        { name: name ?? subscription_group_id, channel: channel ?? 'email' },
      ]),
    ),
    blockedExternalIds: new Set(file.blocked_external_ids ?? []),
    trackObjects: file.limits?.users_track?.objects ?? 'combined',
    bannersEnabled: file.banners ?? true,
    bannerPollSeconds: file.banner_poll_seconds ?? null,
    // Without keys and operators, because their changes do not affect banners, and pages receive the hash.
    release: hashRelease(
      file.campaigns,
      file.segments,
      file.placements,
      file.holdout,
      file.tag_caps,
      file.apps,
      file.studio?.time_zone,
    ),
    limits: toRateLimits(file),
    userLimits: toUserLimits(file),
    placementIds: new Set(
      file.placements?.map(({ placement_id }) => placement_id) ??
        (file.campaigns ?? []).flatMap(({ placements }) => placements),
    ),
    campaigns,
    rawCampaigns: getRawCampaigns(content),
    campaignsFrom: file.campaigns_from ?? 'file',
    placements:
      file.placements?.map((placement) => ({
        placementId: placement.placement_id,
        name: placement.name ?? placement.placement_id,
        template: placement.template ?? null,
        insertionPoint: toInsertionPoint(placement),
      })) ?? null,
    segments,
    holdout: file.holdout
      ? {
          campaignId: toHoldoutId(file.holdout.starts_at),
          percentage: file.holdout.percentage,
          startsAtMs: file.holdout.starts_at,
          exemptTags: new Set(file.holdout.exempt_tags ?? []),
          goals: (file.holdout.conversions ?? []).map(readGoal),
        }
      : null,
    tagCaps: (file.tag_caps ?? []).map(({ tag, campaigns_per_day, exempt }) => ({
      tag,
      campaignsPerDay: campaigns_per_day,
      exempt: new Set(exempt ?? []),
    })),
    retention: {
      events: file.retention?.events_days ?? null,
      bannerEvents: file.retention?.banner_events_days ?? null,
    },
    calendar: createZonedCalendar(file.studio?.time_zone ?? 'UTC'),
    operators: (file.operators ?? []).map(toOperator),
    studio: toStudioSettings(file.studio ?? {}),
    warnings,
  };
};
