import * as z from 'zod';
import { HttpError } from '../../../service/index.ts';
import { createStudioClient, StudioError, type StudioRequest } from '../../../studio-client/index.ts';
import type { CampaignJson } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { post } from '../route.ts';
import { type CampaignVersions, findCampaignRow } from './campaigns.ts';

const promoteBody = z.strictObject({
  /** Name of the other Studio in the workspace file. */
  environment: z.string(),
  /** Key of an operator there. It is not stored. */
  key: z.string().trim().min(1).max(200),
  /** State there that the operator has seen. Default: only compares. */
  seen: z.strictObject({ revision: z.string().nullable(), based_on: z.int().nonnegative() }).optional(),
});

export interface PromoteResponse {
  /** Campaign that is copied: the published version or, if none, the draft. */
  campaign: CampaignJson;
  /** Draft or, if none, the published version there; `null` if the campaign is new there. */
  before: CampaignJson | null;
  /** State there, to send back as `seen`. */
  seen: { revision: string | null; based_on: number };
  /** URL of the campaign there. */
  url: string;
}

/** Compares a campaign with another Studio, or copies it there as a draft. */
export const promote = post('/api/campaigns/{campaignId}/promote', 'edit', promoteBody, async (context) => {
  const { workspace, params, body, audit } = context;
  const campaignId = params['campaignId']!;
  const row = await findCampaignRow(context, campaignId);
  const target = workspace.studio.environments.find(({ name }) => name === body.environment);
  if (!target) throw new HttpError(404, `The workspace file has no environment '${body.environment}'`);
  const client = createStudioClient({ studioUrl: target.studioUrl, key: body.key });
  const request = async <Answer>(path: string, options?: StudioRequest): Promise<Answer | null> => {
    try {
      return await client.request<Answer>(path, options);
    } catch (error) {
      if (!(error instanceof StudioError)) throw new HttpError(422, `${target.name} cannot be reached`);
      if (error.status === 404 && options === undefined) return null;
      throw new HttpError(422, `${target.name}: ${error.message}`);
    }
  };
  const path = `/campaigns/${encodeURIComponent(campaignId)}`;
  const there = await request<CampaignVersions>(`/api${path}`);
  const campaign = currentCampaign(row);
  const response: PromoteResponse = {
    campaign,
    before: there?.draft?.campaign ?? there?.published?.campaign ?? null,
    seen: { revision: there?.draft?.revision ?? null, based_on: there?.newest ?? 0 },
    url: client.link(path),
  };
  if (!body.seen) return response;
  // The other Studio rejects the draft if the one there was changed after the comparison.
  const { revision, based_on } = body.seen;
  await request(`/api/drafts/${encodeURIComponent(campaignId)}`, {
    method: 'PUT',
    body: { campaign, based_on },
    ifMatch: revision,
  });
  await audit('campaign.promote', campaignId, `to ${target.name}`);
  return response;
});
