import type { CampaignJson } from '../../campaign/campaign-json.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import type { ReachResponse } from '../../server/routes/publish-impact.ts';
import { call } from '../call.ts';
import { countText } from '../components/format.ts';
import { type Loaded, useLoad } from '../components/loading.tsx';

/** Pause in typing after which users are counted. */
const TYPING_MS = 400;

/** Estimated number of users: `Everybody: 3,062 users`, `About 1,200 of 5,000 users (1,100–1,300)`. */
export const formatReach = ({ users, atLeast, atMost, of, fewerThan }: ReachResponse): string => {
  const all = `${countText(of)} ${of === 1 ? 'user' : 'users'}`;
  if (fewerThan !== null) return `Fewer than ${fewerThan} of ${all}`;
  if (atLeast === atMost) return users === of ? `Everybody: ${all}` : `${countText(users)} of ${all}`;
  if (users === of) return `Everybody: ${all}`;
  return `About ${countText(users)} of ${all} (${countText(atLeast)}–${countText(atMost)})`;
};

/** Whether a campaign would be shown to nobody. Where users are too few to be told apart it is not known. */
const isUnseen = ({ of, shown, fewerThan }: ReachResponse): boolean =>
  of > 0 && shown === 0 && fewerThan === null;

const describeUnseen = ({ users }: ReachResponse): string =>
  users === 0
    ? 'No users match this audience.'
    : 'Nobody will see it: all of them are in a higher-priority campaign, the control group or the holdout.';

const words = (reach: ReachResponse): string => {
  const { users, of, shown, fewerThan } = reach;
  if (of === 0) return 'There are no users yet.';
  const reached = `${formatReach(reach)}.`;
  if (fewerThan !== null || shown === users || isUnseen(reach)) return reached;
  return `${reached} About ${countText(shown)} will see it. The others are in a higher-priority campaign, the control group or the holdout.`;
};

/** Counts the users of a draft. */
export const useReach = (campaign: CampaignJson): Loaded<ReachResponse> => {
  const { audience = null, placements, priority, starts_at, control_percentage, tags } = campaign;
  // Nothing else of a campaign changes its reach. A tag may keep the holdout from it.
  return useLoad(
    (signal) => call<ReachResponse>('POST', '/api/reach', { body: { campaign }, signal }),
    JSON.stringify([audience, placements, priority, starts_at, control_percentage, tags]),
    { pauseMs: TYPING_MS, keepsLast: true },
  ).loaded;
};

/** Warns of a campaign that nobody would see, or too few users to be told apart. */
export const reachChecks = (loaded: Loaded<ReachResponse>): DraftCheck[] => {
  if (loaded.state !== 'ready' || loaded.value.of === 0) return [];
  const { value: reach } = loaded;
  if (!isUnseen(reach) && reach.fewerThan === null) return [];
  const told = isUnseen(reach)
    ? describeUnseen(reach)
    : `Fewer than ${reach.fewerThan} users match this audience.`;
  return [{ severity: 'warning', path: ['audience'], words: told }];
};

interface ReachProps {
  loaded: Loaded<ReachResponse>;
  /** Only its test users see the campaign, whatever its audience is. */
  isTest: boolean;
}

/** How many users the audience of a draft holds. */
export const Reach = ({ loaded, isTest }: ReachProps) => (
  <div role="status" aria-busy={loaded.state === 'loading'}>
    {!isTest && loaded.state === 'ready' && isUnseen(loaded.value) && (
      <p class="reach-verdict" data-severity="error">
        {describeUnseen(loaded.value)}
      </p>
    )}
    {isTest && <p class="reach-verdict">Only its test users will see it.</p>}
    <p class="audience-reach">
      {
        // A draft that cannot be read yet has no number; its checks say why.
        loaded.state === 'ready'
          ? words(loaded.value)
          : loaded.state === 'loading'
            ? 'Counting…'
            : 'Not counted yet.'
      }
    </p>
  </div>
);
