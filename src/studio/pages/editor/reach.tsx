import type { CampaignJson } from '../../campaign/campaign-json.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import type { ReachResponse } from '../../server/routes/publish-impact.ts';
import { call } from '../call.ts';
import { countText } from '../components/format.ts';
import { type Loaded, useLoad } from '../components/loading.tsx';

/** Debounce of counting users, in milliseconds. */
const TYPING_MS = 400;

/** Estimated number of users: `Everybody: 3,062 users`, `About 1,200 of 5,000 users (1,100–1,300)`. */
export const formatReach = ({ users, atLeast, atMost, of, fewerThan }: ReachResponse): string => {
  const all = `${countText(of)} ${of === 1 ? 'user' : 'users'}`;
  if (fewerThan !== null) return `Fewer than ${fewerThan} of ${all}`;
  if (atLeast === atMost) return users === of ? `Everybody: ${all}` : `${countText(users)} of ${all}`;
  if (users === of) return `Everybody: ${all}`;
  return `About ${countText(users)} of ${all} (${countText(atLeast)}–${countText(atMost)})`;
};

/** Returns whether no user would see the campaign. Unknown if the count is below the reporting floor. */
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

/** Returns the estimated reach of a draft. */
export const useReach = (campaign: CampaignJson): Loaded<ReachResponse> => {
  const { audience = null, placements, priority, starts_at, control_percentage, tags } = campaign;
  // Other members do not change the reach. A tag can exempt the campaign from the holdout.
  return useLoad(
    (signal) => call<ReachResponse>('POST', '/api/reach', { body: { campaign }, signal }),
    JSON.stringify([audience, placements, priority, starts_at, control_percentage, tags]),
    { pauseMs: TYPING_MS, keepsLast: true },
  ).loaded;
};

/** Returns warnings if no user would see the campaign, or too few to report. */
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
  /** Only test users see the campaign, whatever its audience is. */
  isTest: boolean;
}

/** Estimated number of users in the audience of a draft. */
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
        // An invalid draft has no estimate; its checks say why.
        loaded.state === 'ready'
          ? words(loaded.value)
          : loaded.state === 'loading'
            ? 'Counting…'
            : 'Not counted yet.'
      }
    </p>
  </div>
);
