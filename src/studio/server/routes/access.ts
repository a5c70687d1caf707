import { type AuditEntry, HttpError } from '../../../service/index.ts';
import { getCampaignName } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { CustomResponse, csvFile, del, get, iso, type ResponseOf } from '../route.ts';
import { campaignRows } from './campaigns.ts';

/** Returns the signed-in operator with the workspace data that the screens need. */
export const readSession = get('/api/session', 'view', ({ operator, workspace }) => {
  const { studio } = workspace;
  return {
    operator: { name: operator.name, role: operator.role, canViewUsers: operator.canViewUsers },
    workspace: {
      id: workspace.workspaceId,
      name: workspace.name,
      campaignsFrom: workspace.campaignsFrom,
      // `null` if the workspace file has no list and campaigns can use any placement.
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
        since: iso(workspace.holdout.startsAtMs),
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
  };
});
export type SessionResponse = ResponseOf<typeof readSession>;

export const endSession = del('/api/session', 'view', async ({ studio, sessionId, audit, endedCookie }) => {
  await studio.closeSession(sessionId);
  await audit('operator.sign_out', '');
  return new CustomResponse({ status: 204, text: '', headers: { 'Set-Cookie': endedCookie } });
});

const AUDIT_PAGE = 50;

/** Returns the cursor of an audit entry. */
const toCursor = ({ atMs, entryId }: { atMs: number; entryId: string }) => `${atMs}_${entryId}`;

const parseCursor = (text: string | null) => {
  const [, atMs, entryId] = /^(\d{1,15})_([\w-]{1,40})$/.exec(text ?? '') ?? [];
  if (atMs === undefined || entryId === undefined) return {};
  return { before: { atMs: Number(atMs), entryId } };
};

export const readAccess = get('/api/access', 'admin', async ({ workspace, studio, sessionId }) => {
  const sessions = await studio.sessions(workspace.workspaceId);
  const invited = await studio.invitedOperators(workspace.workspaceId);
  return {
    operators: [
      ...workspace.operators.map(({ name, role, canViewUsers }) => ({
        name,
        role,
        canViewUsers,
        invitedBy: null,
        linkExpiresAt: null,
      })),
      ...invited.map(({ name, role, canViewUsers, invitedBy, keyHash, expiresAtMs }) => ({
        name,
        role,
        canViewUsers,
        // `null` if the operator is in the workspace file.
        invitedBy,
        // `null` if the operator has accepted.
        linkExpiresAt: keyHash === null ? iso(expiresAtMs) : null,
      })),
    ],
    sessions: sessions.map((each) => ({
      id: each.sessionId,
      operator: each.operator,
      since: iso(each.createdAtMs),
      seen: iso(each.seenAtMs),
      isOwn: each.sessionId === sessionId,
    })),
  };
});
export type AccessResponse = ResponseOf<typeof readAccess>;

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

const CSV_COLUMNS = ['at', 'operator', 'action', 'subject', 'name', 'details'];

/** Converts an audit entry. `names` are the names of campaigns by ID. */
const toAuditRow = (
  { atMs, operator, action, subject, details }: AuditEntry,
  names: ReadonlyMap<string, string>,
) => ({ at: iso(atMs), operator, action, subject, subjectName: names.get(subject) ?? subject, details });

/**
 * Returns the newest audit entries, or those before a cursor. `find` filters by words. `as=csv` returns all scanned entries as a
 * file.
 */
export const readAudit = get('/api/audit', 'admin', async (context) => {
  const { workspace, studio, query } = context;
  const rows = await campaignRows(context);
  const names = new Map(rows.map((row) => [row.id, getCampaignName(currentCampaign(row))]));
  const isCsv = query.get('as') === 'csv';
  const terms = (query.get('find') ?? '').trim().toLowerCase();
  const scanned = await studio.audit(workspace.workspaceId, {
    limit: isCsv || terms !== '' ? MAX_LOOKED_AT : AUDIT_PAGE,
    ...parseCursor(query.get('before')),
  });
  const most = isCsv ? MAX_LOOKED_AT : AUDIT_PAGE;
  const found: ReturnType<typeof toAuditRow>[] = [];
  let last = scanned.at(-1);
  for (const row of scanned) {
    const entry = toAuditRow(row, names);
    if (Object.values(entry).join('\n').toLowerCase().includes(terms)) found.push(entry);
    if (found.length === most) {
      last = row;
      break;
    }
  }
  if (isCsv) return csvFile('audit.csv', [CSV_COLUMNS, ...found.map((entry) => Object.values(entry))]);
  const isEnd = last === scanned.at(-1) && scanned.length < (terms === '' ? AUDIT_PAGE : MAX_LOOKED_AT);
  // `before` is the cursor of the next page; `null` at the end.
  return { entries: found, before: last && !isEnd ? toCursor(last) : null };
});
export type AuditResponse = ResponseOf<typeof readAudit>;
