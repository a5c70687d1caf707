import * as z from 'zod';
import { type ExplainAnswer, type Insertion, PREVIEW_PARAMETER } from '../../../protocol/index.ts';
import {
  campaignOrder,
  createPreviewTokens,
  explain,
  HttpError,
  impressionsSince,
  type MissingSelector,
  personaProfile,
  previewVariant,
  readCampaign,
  silentLog,
  type TargetingData,
  VIEW_USER,
  workspaceBannerIds,
} from '../../../service/index.ts';
import { bodyOf, defineRoute, type StudioContext } from '../route.ts';

/** Whom something is looked at as: a persona by its name, a user by their external ID, or somebody new. */
const personBody = z.union([
  z.strictObject({ persona: z.string() }),
  z.strictObject({ user: z.string().min(1).max(1_000) }),
  z.strictObject({}),
]);
type PersonBody = z.infer<typeof personBody>;

export interface Person {
  externalId: string;
  /** What a decision needs to know of them. */
  user: TargetingData;
  /** A made-up person is in no group, and gets no variant rather than another. */
  isReal: boolean;
}

/** Nobody's external ID, so that nothing of a real user is read or decided for a made-up one. */
const NOBODY = 'placard-studio-persona';

/** A real user's data needs `can_view_users`, and is written into the audit. */
export const personOf = async (
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
  if ('persona' in who && !persona) throw new HttpError(404, 'There is no such persona');
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
  /** In which it is to be read; without it the person's own. */
  language: z.string().nullish(),
});

export interface PreviewResponse {
  /** As a page gets them; `null` where one cannot be filled in for this person, or the draft has errors. */
  properties: Record<string, { type: string; value: unknown }> | null;
  /** Whether the audience holds them. */
  inAudience: boolean;
  /** In which it is written; `null` of a campaign that names no language. */
  language: string | null;
}

/** One variant of a draft as one person would read it. Nothing is stored, and nothing is counted. */
export const preview = defineRoute({
  method: 'POST',
  path: '/api/preview',
  role: 'view',
  body: bodyOf(previewBody),
  answer: async (context) => {
    const { campaign: content, variant_id: variantId, person: who, language } = context.body;
    const { externalId, user } = await personOf(who, context);
    const { campaign } = readCampaign(content, { segments: context.workspace.segments });
    const none: PreviewResponse = { properties: null, inAudience: false, language: null };
    if (!campaign) return { status: 200, body: none };
    const shown = previewVariant({
      workspace: context.workspace,
      campaign,
      variantId,
      externalId,
      profile: user.profile,
      nowMs: context.nowMs,
      language: language ?? undefined,
    });
    const body: PreviewResponse = shown && 'properties' in shown ? shown : none;
    return { status: 200, body };
  },
});

const linkBody = z.strictObject({
  campaign_id: z.string().min(1),
  revision: z.string().min(1),
  variant_id: z.string().min(1),
  persona: z.string().nullable(),
  /** In which it is to be read; without it the persona's own. */
  language: z.string().max(35).nullish(),
  /** Where to look at it: a page of one of the workspace's sites. */
  page: z.string(),
});

export interface PreviewLinkResponse {
  url: string;
  /** For so many minutes it works. */
  minutes: number;
}

/** Behind what the page has there: a router that keeps its route in the fragment reads a query in it. */
const withToken = (hash: string, token: string) => {
  const mark = hash === '' ? '' : /^#!?\//.test(hash) && !hash.includes('?') ? '?' : '&';
  return `${hash}${mark}${PREVIEW_PARAMETER}=${token}`;
};

/** A link to a page of the site that shows the draft there, for half an hour, to everybody who has the link. */
export const makePreviewLink = defineRoute({
  method: 'POST',
  path: '/api/preview-links',
  role: 'edit',
  body: bodyOf(linkBody),
  answer: async ({ workspace, store, studio, body, nowMs, audit }) => {
    const { campaign_id: campaignId, revision, variant_id: variantId, persona, page } = body;
    const language = body.language ?? null;
    if (!URL.canParse(page))
      throw new HttpError(400, 'The page needs a whole address, such as https://shop.example/');
    const url = new URL(page);
    if (!workspace.studio.sites.includes(url.origin)) {
      throw new HttpError(403, `${url.origin} is not among the sites of the workspace file`);
    }
    const draft = await studio.draft(workspace.workspaceId, campaignId);
    if (draft?.revision !== revision) throw new HttpError(412, 'The draft has changed since');
    const preview = { campaignId, revision, variantId, personaId: persona, language };
    const token = await createPreviewTokens(store).sign(workspace.workspaceId, preview, nowMs);
    url.hash = withToken(url.hash, token);
    await audit('preview_link.create', campaignId, url.origin);
    const answer: PreviewLinkResponse = { url: url.href, minutes: 30 };
    return { status: 201, body: answer };
  },
});

/** Campaigns of placements, each counted in each of them, that one answer explains. */
const MAX_EXPLAINED = 1_000;

const whyBody = z.strictObject({ person: personBody, placements: z.array(z.string()).max(100).optional() });

export interface ExplainResponse {
  placements: ExplainAnswer['placements'];
  /** Placements that one answer has no room for: to be asked for by their names. */
  left: string[];
  /** A made-up person gets no variant rather than another. */
  isReal: boolean;
  hasProfile: boolean;
  /** Of those of the placements that pages insert by themselves. */
  spots: Record<string, SpotText>;
}

/** Where pages insert a placement, and what they have reported of it. */
export interface SpotText {
  selector: string;
  insert: Insertion;
  paths: string[];
  missing: { reports: number; since: string; last: string } | null;
}

const spotsOf = ({ workspace, missingSelectors, nowMs }: StudioContext, ids: readonly string[]) => {
  const iso = (ms: number) => new Date(ms).toISOString();
  const timesOf = ({ reports, sinceMs, lastMs }: MissingSelector) => ({
    reports,
    since: iso(sinceMs),
    last: iso(lastMs),
  });
  const spots: ExplainResponse['spots'] = {};
  for (const placement of workspace.placements ?? []) {
    const { placementId, spot } = placement;
    if (!spot || !ids.includes(placementId)) continue;
    const missing = missingSelectors.of(workspace.workspaceId, placement, nowMs);
    spots[placementId] = {
      selector: spot.selector,
      insert: spot.insert,
      paths: [...spot.paths],
      missing: missing && timesOf(missing),
    };
  }
  return spots;
};

/** Every campaign of a placement in order, and what became of it for one person: the decision that `banners/sync` makes. */
export const why = defineRoute({
  method: 'POST',
  path: '/api/explain',
  role: 'view',
  body: bodyOf(whyBody),
  answer: async (context) => {
    const { workspace, store, nowMs } = context;
    const { person: who, placements } = context.body;
    const person = await personOf(who, context);
    const known = workspace.placements?.map(({ placementId }) => placementId) ?? [
      ...new Set(workspace.campaigns.flatMap(({ placements }) => [...placements])),
    ];
    const [appId = ''] = workspace.appIds;
    // Nobody holds a made-up person out.
    const campaigns = person.isReal
      ? workspace.campaigns
      : workspace.campaigns.map((campaign) => ({ ...campaign, controlPercentage: 0 }));
    const decided = { ...workspace, campaigns, ...(!person.isReal && { holdout: null }) };
    const requested = placements ?? known;
    const ofPlacement = campaignOrder(decided).placements;
    let explained = 0;
    const fits = requested.findIndex((id) => {
      explained += ofPlacement.get(id)?.all.length ?? 0;
      return explained > MAX_EXPLAINED;
    });
    // One at least, or nobody would ever get further.
    const room = fits < 0 ? requested.length : Math.max(1, fits);
    const answered = requested.slice(0, room);
    const body: ExplainResponse = {
      left: requested.slice(room),
      spots: spotsOf(context, answered),
      placements: explain({
        workspace: decided,
        externalUserId: person.externalId,
        user: person.user,
        appId,
        appVersion: 'any',
        deviceId: undefined,
        acceptLanguage: '',
        placementIds: answered,
        now: nowMs,
        ids: await workspaceBannerIds(store)(workspace.workspaceId),
        log: silentLog,
      }),
      isReal: person.isReal,
      hasProfile: person.user.profile !== null,
    };
    return { status: 200, body };
  },
});
