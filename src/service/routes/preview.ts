import { hash } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import {
  ERROR_MESSAGES,
  MAX_SYNC_BODY_BYTES,
  MAX_SYNC_VALUES,
  NEVER_EXPIRES,
  PREVIEW_PATH,
  rateLimitHeaders,
  type WireBanner,
} from '../../protocol/index.ts';
import { type PreviewResult, previewRequest, previewResult } from '../../protocol/schemas/index.ts';
import { browserBody, defineRoute } from '../api/route.ts';
import type { GetBannerIds } from '../campaigns/banner-id.ts';
import type { Campaign } from '../campaigns/campaign.ts';
import { personaProfile, previewVariant } from '../campaigns/preview-variant.ts';
import { schemaReader } from '../http/body.ts';
import { HttpError } from '../http/http-request.ts';
import type { Store } from '../store/store.ts';
import { readCampaign } from '../workspace/read-campaign.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Content of a preview link. Contains a persona instead of a user, because anyone with the link can read it. */
export interface Preview {
  campaignId: string;
  /** Revision of the draft; `null` for the published campaign. */
  revision: string | null;
  /** `null` selects the variant that the persona would get. */
  variantId: string | null;
  /** `null` selects a user without attributes and events. */
  personaId: string | null;
  /** `null` selects the persona's language. */
  language: string | null;
}

/** Reason that a token is rejected. `invalid` means that it is not a preview token of this workspace. */
type PreviewError = 'invalid' | 'expired';

const ALGORITHM = 'HS256';
const USE = 'placard preview';
const LIFETIME_SECONDS = 30 * 60;

/** Derives a key for preview tokens only. Banner IDs use other keys derived from the same secret. */
const createSigningKey = (workspaceId: string, secret: string): Uint8Array =>
  Buffer.from(hash('sha256', JSON.stringify([USE, workspaceId, secret]), 'hex'), 'hex');

/** Signs and verifies preview tokens, valid for 30 minutes, with the workspace's secret in the store. */
export const createPreviewTokens = (store: Pick<Store, 'ensureWorkspace'>) => ({
  /** Returns a token for this preview. */
  async sign(workspaceId: string, preview: Preview, nowMs: number): Promise<string> {
    return new SignJWT({ preview })
      .setProtectedHeader({ alg: ALGORITHM })
      .setAudience(USE)
      .setExpirationTime(Math.floor(nowMs / 1000) + LIFETIME_SECONDS)
      .sign(createSigningKey(workspaceId, await store.ensureWorkspace(workspaceId)));
  },

  /** Returns the preview of a token, or the reason that the token is rejected. */
  async verify(workspaceId: string, token: string, nowMs: number): Promise<Preview | PreviewError> {
    const key = createSigningKey(workspaceId, await store.ensureWorkspace(workspaceId));
    try {
      const { payload } = await jwtVerify<{ preview: Preview }>(token, key, {
        algorithms: [ALGORITHM],
        audience: USE,
        requiredClaims: ['exp'],
        currentDate: new Date(nowMs),
      });
      // Only `sign` uses the key, so the payload has the right shape.
      return payload.preview;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      return error instanceof errors.JWTExpired ? 'expired' : 'invalid';
    }
  },
});

/** Rate limit per link, because each request reads and compiles a draft. */
const PER_LINK = { requests: 60, windowSeconds: 60 };
/** Maximum characters of a response, because every placement gets a copy of the banner. */
const MAX_ANSWER_CHARACTERS = 1024 * 1024;

/** Placeholder user ID, because a preview is for a persona and not for a user. */
const NOBODY = 'placard-preview';

const gone = () =>
  new HttpError(404, 'The campaign has changed since the link was created: create a new link');

/** Returns the campaign of a link. Throws `HttpError` if the draft has changed or is invalid. */
const createReadLinked =
  ({ studio }: Store) =>
  async ({ campaignId, revision }: Preview, workspace: Workspace): Promise<Campaign> => {
    if (revision === null) {
      const published = workspace.campaigns.find((each) => each.campaignId === campaignId);
      if (!published) throw gone();
      return published;
    }
    const draft = await studio.draft(workspace.workspaceId, campaignId);
    if (draft?.revision !== revision) throw gone();
    const { campaign } = readCampaign(draft.campaign, { segments: workspace.segments });
    if (campaign) return campaign;
    throw new HttpError(422, 'The draft cannot be shown as it is: the Studio says what is missing');
  };

/**
 * Returns a draft rendered for a persona, requested by a page with its client key. Every banner is a test send, so its events are
 * not counted.
 */
export const preview = (getBannerIds: GetBannerIds, store: Store) => {
  const tokens = createPreviewTokens(store);
  const readLinked = createReadLinked(store);
  return defineRoute({
    path: PREVIEW_PATH,
    permission: 'banners.sync',
    errorFormat: 'track',
    limit: 'banners_sync',
    body: browserBody(schemaReader(previewRequest), {
      maxBytes: MAX_SYNC_BODY_BYTES,
      maxValues: MAX_SYNC_VALUES,
    }),
    response: { status: 200, schema: previewResult },
    operation: {
      id: 'preview',
      tag: 'Banners',
      summary: 'Show a draft on the site',
      description:
        'Returns the draft of a Studio preview link, rendered for its persona, in all its placements. 401 if the link is of another workspace or has expired, 404 once the draft has changed. Each banner is a test send.',
      example: { token: 'eyJhbGciOiJIUzI1NiJ9…' },
      badRequest: 'The token is missing.',
      notFound: 'The draft has changed since the link was created.',
    },
    handler: async ({ workspace, body, now }) => {
      const { workspaceId } = workspace;
      const link = await tokens.verify(workspaceId, body.token, now);
      if (typeof link === 'string') {
        const message =
          link === 'expired' ? 'The preview link has expired' : 'No preview link of this workspace';
        throw new HttpError(401, message);
      }
      const key = `preview:${hash('sha256', body.token, 'base64url')}`;
      const rate = await store.consumeRateLimit([{ key, rule: PER_LINK }], now);
      if (!rate.allowed) {
        const headers = rateLimitHeaders('banners', rate, now, true);
        throw new HttpError(429, `${ERROR_MESSAGES.overRateLimit}: at most 60 requests a minute per link`, {
          headers,
        });
      }
      const campaign = await readLinked(link, workspace);
      const persona = workspace.studio.personas.find(({ name }) => name === link.personaId);
      const variantId = link.variantId ?? campaign.variants[0]!.variantId;
      const shown = previewVariant({
        workspace,
        campaign,
        variantId,
        externalId: NOBODY,
        profile: persona ? personaProfile(persona, now) : null,
        nowMs: now,
        language: link.language ?? undefined,
      });
      if (!shown || !('properties' in shown))
        throw new HttpError(422, 'A property of the draft cannot be rendered for this persona');
      if (JSON.stringify(shown.properties).length * campaign.placements.size > MAX_ANSWER_CHARACTERS)
        throw new HttpError(
          422,
          'The draft is too large for a preview: it has many placements or long properties',
        );
      const ids = await getBannerIds(workspaceId);
      const banners = [...campaign.placements].map((placementId): [string, WireBanner] => {
        const { language } = shown;
        const payload = { campaignId: campaign.campaignId, variantId, placementId, round: 0, language };
        return [
          placementId,
          {
            id: ids.encode({ ...payload, isControl: false, isTestSend: true }, NOBODY),
            placement_id: placementId,
            is_control: false,
            is_test_send: true,
            expires_at: NEVER_EXPIRES,
            properties: shown.properties,
          },
        ];
      });
      const response: PreviewResult = { campaign_name: campaign.name, banners: Object.fromEntries(banners) };
      return { body: response };
    },
  });
};
