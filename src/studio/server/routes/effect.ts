import { type LiveEffect, liveEffect } from '../live-effect.ts';
import type { StudioRoute } from '../route.ts';

/** What publishing would change for users. */
export const publishEffect: StudioRoute = {
  method: 'POST',
  path: '/api/effect',
  role: 'view',
  answer: (context) => {
    const { campaign } = (context.body ?? {}) as { campaign?: unknown };
    const effect: LiveEffect = liveEffect(campaign, context.workspace, context.nowMs);
    return { status: 200, body: effect };
  },
};
