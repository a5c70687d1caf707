import * as z from 'zod';
import type { ExplainAnswer } from '../../../protocol/index.ts';
import { explain, silentLog, workspaceBannerIds } from '../../../service/index.ts';
import { bodyOf } from '../body.ts';
import { personBody, personOf } from '../person.ts';
import type { StudioRoute } from '../route.ts';

const whyBody = z.strictObject({ person: personBody, placements: z.array(z.string()).max(100).optional() });

export interface WhyAnswer {
  placements: ExplainAnswer['placements'];
  /** A made-up person gets no variant rather than another. */
  isReal: boolean;
  hasProfile: boolean;
}

/** Every campaign of a placement in order, and what became of it for one person: the decision that `banners/sync` makes. */
export const why: StudioRoute = {
  method: 'POST',
  path: '/api/why',
  role: 'view',
  answer: async (context) => {
    const { workspace, store, nowMs } = context;
    const { person: who, placements } = bodyOf(whyBody, context.body);
    const person = await personOf(who, context);
    const known = workspace.placements?.map(({ placementId }) => placementId) ?? [
      ...new Set(workspace.campaigns.flatMap(({ placements }) => [...placements])),
    ];
    const [appId = ''] = workspace.appIds;
    // Nobody holds a made-up person out.
    const campaigns = person.isReal
      ? workspace.campaigns
      : workspace.campaigns.map((campaign) => ({ ...campaign, controlPercentage: 0 }));
    const body: WhyAnswer = {
      placements: explain({
        workspace: { ...workspace, campaigns },
        externalUserId: person.externalId,
        user: person.user,
        appId,
        appVersion: 'any',
        deviceId: undefined,
        placementIds: placements ?? known,
        now: nowMs,
        ids: await workspaceBannerIds(store)(workspace.workspaceId),
        log: silentLog,
      }),
      isReal: person.isReal,
      hasProfile: person.user.profile !== null,
    };
    return { status: 200, body };
  },
};
