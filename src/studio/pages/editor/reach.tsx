import type { CampaignText } from '../../campaign/campaign-text.ts';
import type { ReachAnswer } from '../../server/routes/effect.ts';
import { call } from '../call.ts';
import { countText } from '../parts/format.ts';
import { useLoad } from '../parts/server.tsx';

/** Pause in typing after which users are counted. */
const TYPING_MS = 400;

export const reachWords = ({ users, atLeast, atMost, of, fewerThan }: ReachAnswer): string => {
  const all = `${countText(of)} ${of === 1 ? 'user' : 'users'}`;
  if (fewerThan !== null) return `Reaches fewer than ${fewerThan} of ${all}.`;
  if (atLeast === atMost) return `Reaches ${countText(users)} of ${all}.`;
  return `Reaches about ${countText(users)} of ${all}: between ${countText(atLeast)} and ${countText(atMost)}.`;
};

const words = (reach: ReachAnswer): string => {
  const { users, of, shown, fewerThan } = reach;
  if (of === 0) return 'There are no users yet.';
  const reached = reachWords(reach);
  if (fewerThan !== null || shown === users) return reached;
  if (shown === 0) {
    return `${reached} Nobody of them would see it: a campaign that comes before it, its control group or the holdout takes them all.`;
  }
  return `${reached} About ${countText(shown)} of them would see it: a campaign that comes before it, its control group or the holdout takes the others.`;
};

/** How many users the audience of a draft holds. */
export const Reach = ({ campaign }: { campaign: CampaignText }) => {
  const { audience = null, placements, priority, starts_at, control_percentage, tags } = campaign;
  // Nothing else of a campaign changes its reach. A tag may keep the holdout from it.
  const { loaded } = useLoad(
    (signal) => call<ReachAnswer>('POST', '/api/reach', { body: { campaign }, signal }),
    JSON.stringify([audience, placements, priority, starts_at, control_percentage, tags]),
    { pauseMs: TYPING_MS, keepsLast: true },
  );
  // A draft that cannot be read yet has no number; its checks say why.
  return (
    <p class="audience-reach" role="status" aria-busy={loaded.state === 'loading'}>
      {loaded.state === 'ready'
        ? words(loaded.value)
        : loaded.state === 'loading'
          ? 'Counting …'
          : 'Not counted yet.'}
    </p>
  );
};
