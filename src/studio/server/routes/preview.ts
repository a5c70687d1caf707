import * as z from 'zod';
import { type ExplainResult, type Insertion, PREVIEW_PARAMETER } from '../../../protocol/index.ts';
import {
  createGetBannerIds,
  createPreviewTokens,
  explain,
  HttpError,
  impressionsSince,
  type MissingSelector,
  personaProfile,
  previewVariant,
  priorityOrder,
  readCampaign,
  silentLog,
  type TargetingData,
  VIEW_USER,
  type Workspace,
} from '../../../service/index.ts';
import { toCampaignJson, variantName } from '../../campaign/campaign-json.ts';
import { created, iso, post, type ResponseOf, type StudioContext } from '../route.ts';

/** User of a preview: persona by name, user by external ID, or new visitor. */
const personBody = z.union([
  z.strictObject({ persona: z.string() }),
  z.strictObject({ user: z.string().min(1).max(1_000) }),
  z.strictObject({}),
]);
type PersonBody = z.infer<typeof personBody>;

export interface Person {
  externalId: string;
  /** Profile for targeting. */
  user: TargetingData;
  /** Whether the user is real. Personas are not bucketed, so they have no control group and no assigned variant. */
  isReal: boolean;
}

/** Placeholder external ID of a persona, so that no real user is read or assigned. */
const NOBODY = 'placard-studio-persona';

/** Returns the user of a preview. A real user requires `can_view_users` and is recorded in the audit log. */
const loadPerson = async (
  who: PersonBody,
  { workspace, store, operator, nowMs, audit }: StudioContext,
): Promise<Person> => {
  if ('user' in who) {
    if (!operator.canViewUsers) throw new HttpError(403, 'Viewing a user needs "can_view_users"');
    await audit(VIEW_USER, who.user);
    return {
      externalId: who.user,
      user: await store.loadTargetingData(
        workspace.workspaceId,
        who.user,
        impressionsSince(workspace, nowMs),
      ),
      isReal: true,
    };
  }
  const persona = 'persona' in who && workspace.studio.personas.find(({ name }) => name === who.persona);
  if ('persona' in who && !persona) throw new HttpError(404, 'Persona not found');
  return {
    externalId: NOBODY,
    user: { profile: persona ? personaProfile(persona, nowMs) : null, campaigns: [], impressions: [] },
    isReal: false,
  };
};

const previewBody = z.strictObject({
  campaign: z.looseObject({}),
  variant_id: z.string(),
  person: personBody,
  /** Language of the preview. Default: the user's language. */
  language: z.string().nullish(),
});

export interface PreviewResponse {
  /** Rendered properties; `null` if rendering fails for this user or the draft has errors. */
  properties: Record<string, { type: string; value: unknown }> | null;
  /** Whether the user is in the audience. */
  inAudience: boolean;
  /** Language of the texts; `null` if the campaign has none. */
  language: string | null;
}

/** Renders a variant of a draft for a user. Stores and counts nothing. */
export const preview = post('/api/preview', 'view', previewBody, async (context) => {
  const { campaign: content, variant_id: variantId, person: who, language } = context.body;
  const { externalId, user } = await loadPerson(who, context);
  const { campaign } = readCampaign(content, { segments: context.workspace.segments });
  const none: PreviewResponse = { properties: null, inAudience: false, language: null };
  if (!campaign) return none;
  const shown = previewVariant({
    workspace: context.workspace,
    campaign,
    variantId,
    externalId,
    profile: user.profile,
    nowMs: context.nowMs,
    language: language ?? undefined,
  });
  return shown && 'properties' in shown ? shown : none;
});

const linkBody = z.strictObject({
  campaign_id: z.string().min(1),
  /** Revision of the draft; `null` for the published campaign. */
  revision: z.string().min(1).nullable(),
  variant_id: z.string().min(1),
  persona: z.string().nullable(),
  /** Language of the preview. Default: the persona's language. */
  language: z.string().max(35).nullish(),
  /** URL of a page on a site of the workspace. */
  page: z.string(),
});

/** Appends the token to the query in the fragment, because hash routers keep their query there. */
const withToken = (hash: string, token: string) => {
  const mark = hash === '' ? '' : /^#!?\//.test(hash) && !hash.includes('?') ? '?' : '&';
  return `${hash}${mark}${PREVIEW_PARAMETER}=${token}`;
};

/** Creates a link that shows a draft or published campaign on the site for 30 minutes. Anyone with the link can use it. */
export const makePreviewLink = post(
  '/api/preview-links',
  'edit',
  linkBody,
  async ({ workspace, store, studio, body, nowMs, audit }) => {
    const { campaign_id: campaignId, revision, variant_id: variantId, persona, page } = body;
    const language = body.language ?? null;
    if (!URL.canParse(page))
      throw new HttpError(400, 'Expected an absolute URL, such as https://shop.example/');
    const url = new URL(page);
    if (!workspace.studio.sites.includes(url.origin)) {
      throw new HttpError(403, `${url.origin} is not among the sites of the workspace file`);
    }
    const draft = revision === null ? null : await studio.draft(workspace.workspaceId, campaignId);
    if (revision !== null && draft?.revision !== revision) throw new HttpError(412, 'The draft was changed');
    if (revision === null && workspace.campaigns.every((each) => each.campaignId !== campaignId))
      throw new HttpError(404, 'Campaign not published');
    const preview = { campaignId, revision, variantId, personaId: persona, language };
    const token = await createPreviewTokens(store).sign(workspace.workspaceId, preview, nowMs);
    url.hash = withToken(url.hash, token);
    await audit('preview_link.create', campaignId, url.origin);
    return created({ url: url.href, minutes: 30 });
  },
);
export type PreviewLinkResponse = ResponseOf<typeof makePreviewLink>;

/** Maximum campaigns explained in a response, counted once per placement. */
const MAX_EXPLAINED = 1_000;

const explainBody = z.strictObject({
  person: personBody,
  placements: z.array(z.string()).max(100).optional(),
});

/** Insertion point of a placement, with the reports of pages on which its selector had no match. */
export interface InsertionPointReport {
  selector: string;
  insert: Insertion;
  paths: string[];
  missing: { reports: number; since: string; last: string } | null;
}

const getSpots = ({ workspace, missingSelectors, nowMs }: StudioContext, ids: readonly string[]) => {
  const toMissingReport = ({ reports, sinceMs, lastMs }: MissingSelector) => ({
    reports,
    since: iso(sinceMs),
    last: iso(lastMs),
  });
  const spots: Record<string, InsertionPointReport> = {};
  for (const placement of workspace.placements ?? []) {
    const { placementId, insertionPoint } = placement;
    if (!insertionPoint || !ids.includes(placementId)) continue;
    const missing = missingSelectors.of(workspace.workspaceId, placement, nowMs);
    spots[placementId] = {
      selector: insertionPoint.selector,
      insert: insertionPoint.insert,
      paths: [...insertionPoint.paths],
      missing: missing && toMissingReport(missing),
    };
  }
  return spots;
};

const getVariantNames = (
  { rawCampaigns }: Workspace,
  placements: ExplainResult['placements'],
): Record<string, string> =>
  Object.fromEntries(
    Object.values(placements)
      .flat()
      .flatMap((each) => {
        if (each.outcome !== 'shown') return [];
        const raw = rawCampaigns.find((campaign) => campaign['campaign_id'] === each.campaign_id);
        const variants = toCampaignJson(raw)?.variants ?? [];
        const variant = variants.find(({ variant_id }) => variant_id === each.variant_id);
        return [[each.campaign_id, variant ? variantName(variant) : each.variant_id]];
      }),
  );

/** Explains the decision of `banners/sync` for a user on each campaign of a placement, in order. */
export const explainRoute = post('/api/explain', 'view', explainBody, async (context) => {
  const { workspace, store, nowMs } = context;
  const { person: who, placements } = context.body;
  const person = await loadPerson(who, context);
  const placementIds = workspace.placements?.map(({ placementId }) => placementId) ?? [
    ...new Set(workspace.campaigns.flatMap(({ placements }) => [...placements])),
  ];
  const [appId = ''] = workspace.appIds;
  // Only real users can be in the holdout.
  const campaigns = person.isReal
    ? workspace.campaigns
    : workspace.campaigns.map((campaign) => ({ ...campaign, controlPercentage: 0 }));
  const decided = { ...workspace, campaigns, ...(!person.isReal && { holdout: null }) };
  const requested = placements ?? placementIds;
  const ofPlacement = priorityOrder(decided).placements;
  let explained = 0;
  const fits = requested.findIndex((id) => {
    explained += ofPlacement.get(id)?.all.length ?? 0;
    return explained > MAX_EXPLAINED;
  });
  // Explains at least one placement, so that each request makes progress.
  const room = fits < 0 ? requested.length : Math.max(1, fits);
  const previewed = requested.slice(0, room);
  const explanations = explain({
    workspace: decided,
    externalUserId: person.externalId,
    user: person.user,
    appId,
    appVersion: 'any',
    deviceId: undefined,
    acceptLanguage: '',
    placementIds: previewed,
    now: nowMs,
    ids: await createGetBannerIds(store)(workspace.workspaceId),
    log: silentLog,
  });
  return {
    // Placements that this response omits. Request them by name.
    left: requested.slice(room),
    spots: getSpots(context, previewed),
    placements: explanations,
    variantNames: getVariantNames(workspace, explanations),
    // Other users are not assigned a variant.
    isReal: person.isReal,
    hasProfile: person.user.profile !== null,
  };
});
export type ExplainResponse = ResponseOf<typeof explainRoute>;
