import * as z from 'zod';
import { countReach, HttpError, readCampaign } from '../../../service/index.ts';
import { bodyOf } from '../body-of.ts';
import type { StudioRoute } from '../route.ts';

const reachBody = z.strictObject({ campaign: z.looseObject({}) });

/** About how many users are in the audience of a campaign as it is in the body. Answers a `Reach`. */
export const readReach: StudioRoute = {
  method: 'POST',
  path: '/api/reach',
  role: 'view',
  answer: async ({ workspace, store, body, nowMs }) => {
    const { campaign, problems } = readCampaign(bodyOf(reachBody, body).campaign, null);
    if (!campaign) {
      const [problem] = problems;
      throw new HttpError(
        422,
        `The campaign cannot be read: ${problem?.path.join('.')}: ${problem?.message}`,
      );
    }
    const { workspaceId } = workspace;
    return { status: 200, body: await countReach({ store, workspaceId, campaign, now: nowMs }) };
  },
};
