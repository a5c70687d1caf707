import { HttpError, type PlacementTemplate, type Role } from '../../../service/index.ts';
import { getCampaignName } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { csvFile, del, get, Reply } from '../route.ts';
import { campaignRows } from './campaigns.ts';

/** Signed-in operator with the workspace data that the screens need. */
export interface SessionResponse {
  operator: { name: string; role: Role; canViewUsers: boolean };
  workspace: {
    id: string;
    name: string;
    campaignsFrom: 'file' | 'studio';
    /** Placements; `null` if the workspace file has no list and campaigns can use any placement. */
    placements: { id: string; name: string; template: PlacementTemplate | null }[] | null;
    apps: { id: string; name: string }[];
    subscriptionGroups: { id: string; name: string }[];
    segments: { id: string; name: string }[];
    campaigns: { id: string; name: string }[];
    /** Global holdout. `id` selects its results. */
    holdout: { id: string; percentage: number; since: string } | null;
    personas: string[];
    sites: string[];
    /** Names of other Studios to which campaigns can be copied. */
    environments: string[];
    timeZone: string;
    requireApproval: boolean;
    tagCaps: { tag: string; campaignsPerDay: number }[];
  };
}

export const readSession = get('/api/session', 'view', ({ operator, workspace }) => {
  const { studio } = workspace;
  return {
    operator: { name: operator.name, role: operator.role, canViewUsers: operator.canViewUsers },
    workspace: {
      id: workspace.workspaceId,
      name: workspace.name,
      campaignsFrom: workspace.campaignsFrom,
      placements:
        workspace.placements?.map(({ placementId, name, template }) => ({
          id: placementId,
          name,
          template,
        })) ?? null,
      apps: workspace.apps.map(({ appId, name }) => ({ id: appId, name })),
      holdout: workspace.holdout && {
        id: workspace.holdout.campaignId,
        percentage: workspace.holdout.percentage,
        since: new Date(workspace.holdout.startsAtMs).toISOString(),
      },
      campaigns: workspace.campaigns.map(({ campaignId, name }) => ({ id: campaignId, name })),
      segments: [...workspace.segments.values()].map(({ segmentId, name }) => ({ id: segmentId, name })),
      subscriptionGroups: [...workspace.subscriptionGroups].map(([id, { name }]) => ({ id, name })),
      personas: studio.personas.map(({ name }) => name),
      sites: [...studio.sites],
      environments: studio.environments.map(({ name }) => name),
      timeZone: studio.timeZone,
      requireApproval: studio.requireApproval,
      tagCaps: workspace.tagCaps.map(({ tag, campaignsPerDay }) => ({ tag, campaignsPerDay })),
    },
  } satisfies SessionResponse;
});

export const endSession = del('/api/session', 'view', async ({ studio, sessionId, audit, endedCookie }) => {
  await studio.closeSession(sessionId);
  await audit('operator.sign_out', '');
  return new Reply({ status: 204, text: '', headers: { 'Set-Cookie': endedCookie } });
});

const AUDIT_PAGE = 50;

export interface AccessResponse {
  operators: { name: string; role: string; canViewUsers: boolean }[];
  sessions: { id: string; operator: string; since: string; seen: string; isOwn: boolean }[];
}

export interface AuditResponse {
  entries: {
    at: string;
    operator: string;
    action: string;
    /** Subject, for example a campaign ID. */
    subject: string;
    /** Name of the campaign if it still exists, otherwise the subject. */
    subjectName: string;
    details: string;
  }[];
  /** Cursor of the next page; `null` at the end. */
  before: string | null;
}

/** Returns the cursor of an audit entry. */
const toCursor = ({ atMs, entryId }: { atMs: number; entryId: string }) => `${atMs}_${entryId}`;

const parseCursor = (text: string | null) => {
  const [, atMs, entryId] = /^(\d{1,15})_([\w-]{1,40})$/.exec(text ?? '') ?? [];
  if (atMs === undefined || entryId === undefined) return {};
  return { before: { atMs: Number(atMs), entryId } };
};

const iso = (ms: number) => new Date(ms).toISOString();

export const readAccess = get('/api/access', 'admin', async ({ workspace, studio, sessionId }) => {
  const sessions = await studio.sessions(workspace.workspaceId);
  return {
    operators: workspace.operators.map(({ name, role, canViewUsers }) => ({ name, role, canViewUsers })),
    sessions: sessions.map((each) => ({
      id: each.sessionId,
      operator: each.operator,
      since: iso(each.createdAtMs),
      seen: iso(each.seenAtMs),
      isOwn: each.sessionId === sessionId,
    })),
  } satisfies AccessResponse;
});

export const endAnySession = del(
  '/api/sessions/{sessionId}',
  'admin',
  async ({ workspace, studio, params, audit }) => {
    const found = await studio.session(params['sessionId']!);
    if (found?.workspaceId !== workspace.workspaceId) throw new HttpError(404, 'Session not found');
    await studio.closeSession(found.sessionId);
    await audit('session.revoke', found.operator);
  },
);

/** Maximum entries scanned by a request. A filter with few matches continues on the next page. */
const MAX_LOOKED_AT = 2_000;

type Entry = AuditResponse['entries'][number];

const CSV_COLUMNS = ['at', 'operator', 'action', 'subject', 'name', 'details'];
const toCsvRow = ({ at, operator, action, subject, subjectName, details }: Entry) => [
  at,
  operator,
  action,
  subject,
  subjectName,
  details,
];

/**
 * Returns the newest audit entries, or those before a cursor. `find` filters by words. `as=csv` returns all scanned entries as a
 * file.
 */
export const readAudit = get('/api/audit', 'admin', async (context) => {
  const { workspace, studio, query } = context;
  const rows = await campaignRows(context);
  const names = new Map(rows.map((row) => [row.id, getCampaignName(currentCampaign(row))]));
  const isCsv = query.get('as') === 'csv';
  const words = (query.get('find') ?? '').trim().toLowerCase();
  const looked = await studio.audit(workspace.workspaceId, {
    limit: isCsv || words !== '' ? MAX_LOOKED_AT : AUDIT_PAGE,
    ...parseCursor(query.get('before')),
  });
  const most = isCsv ? MAX_LOOKED_AT : AUDIT_PAGE;
  const found: Entry[] = [];
  let last = looked.at(-1);
  for (const row of looked) {
    const { atMs, operator, action, subject, details } = row;
    const entry = {
      at: iso(atMs),
      operator,
      action,
      subject,
      subjectName: names.get(subject) ?? subject,
      details,
    };
    if (Object.values(entry).join('\n').toLowerCase().includes(words)) found.push(entry);
    if (found.length === most) {
      last = row;
      break;
    }
  }
  if (isCsv) return csvFile('audit.csv', [CSV_COLUMNS, ...found.map(toCsvRow)]);
  const isEnd = last === looked.at(-1) && looked.length < (words === '' ? AUDIT_PAGE : MAX_LOOKED_AT);
  return { entries: found, before: last && !isEnd ? toCursor(last) : null } satisfies AuditResponse;
});
