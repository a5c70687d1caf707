import type { CampaignJson } from '../../campaign/campaign-json.ts';
import { formatCount, formatNumber } from '../../campaign/format-number.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import type { ReachResponse } from '../../server/routes/publish-impact.ts';
import { call } from '../call.ts';
import { wholeMoment } from '../components/format.ts';
import { type Loaded, useLoad } from '../components/loading.tsx';

/** Debounce of counting users, in milliseconds. */
export const TYPING_MS = 400;

/** Formats a reach, such as `All users (3,062)` or `About 1,200 of 5,000 users (1,100–1,300)`. */
export const formatReach = ({ users, atLeast, atMost, total, fewerThan }: ReachResponse): string => {
  const all = formatCount(total, 'user');
  if (fewerThan !== null) return `Fewer than ${fewerThan} of ${all}`;
  if (users === total) return `All users (${formatNumber(total)})`;
  if (atLeast === atMost) return `${formatNumber(users)} of ${all}`;
  return `About ${formatNumber(users)} of ${all} (${formatNumber(atLeast)}–${formatNumber(atMost)})`;
};

const isExact = ({ atLeast, atMost }: ReachResponse) => atLeast === atMost;

/** Returns the estimated reach of a draft. */
export const useReach = (campaign: CampaignJson): Loaded<ReachResponse> => {
  const { audience = null, placements, priority, starts_at, control_percentage, tags } = campaign;
  // Only these members change the reach. Tags are included, because a tag can exempt the campaign from the holdout.
  return useLoad(
    (signal) => call<ReachResponse>('POST', '/api/reach', { body: { campaign }, signal }),
    JSON.stringify([audience, placements, priority, starts_at, control_percentage, tags]),
    { pauseMs: TYPING_MS, keepsLast: true },
  ).loaded;
};

/** Estimated visibility of a campaign once published. */
export interface Visibility {
  /** `nobody` must not appear as ready. `unknown` until users are counted. */
  state: 'some' | 'nobody' | 'unknown';
  message: string;
}

/** Returns the visibility of a campaign from its fields, or else from the estimated reach. */
export const getVisibility = (
  campaign: CampaignJson,
  reach: Loaded<ReachResponse>,
  nowMs: number,
): Visibility => {
  const { status, starts_at, ends_at, control_percentage, test_users } = campaign;
  const who = test_users?.length ? 'Only test users' : 'No users';
  const nobody = (reason: string): Visibility => ({
    state: 'nobody',
    message: `${who} will see it: ${reason}.`,
  });
  if (status === 'stopped') return nobody('the campaign is stopped');
  if (status === 'draft') {
    return test_users?.length
      ? { state: 'some', message: 'Only its test users will see it.' }
      : nobody('it is for test users, and has none');
  }
  if (ends_at && Date.parse(ends_at) <= nowMs) return nobody('its end is in the past');
  if (control_percentage === 100) return nobody('everyone is in the control group');
  if (reach.state === 'loading') return { state: 'unknown', message: 'Counting users…' };
  if (reach.state === 'failed')
    return { state: 'unknown', message: `Users are not counted: ${reach.message}` };
  const { total, users, shown, fewerThan } = reach.value;
  const startText = starts_at && Date.parse(starts_at) > nowMs ? `, from ${wholeMoment(starts_at)}` : '';
  if (total === 0)
    return { state: 'some', message: `New users will see it${startText}. There are none yet.` };
  if (fewerThan !== null)
    return { state: 'some', message: `Fewer than ${fewerThan} users will see it${startText}.` };
  if (users === 0) return nobody('no users match its audience');
  if (shown === 0)
    return nobody('all of them are in a higher-priority campaign, the control group or the holdout');
  const about = isExact(reach.value) && users === shown ? '' : 'About ';
  return { state: 'some', message: `${about}${formatCount(shown, 'user')} will see it${startText}.` };
};

/** Returns warnings about the visibility that other checks do not report. */
export const reachChecks = (visibility: Visibility, reach: Loaded<ReachResponse>): DraftCheck[] => {
  const warn = (message: string): DraftCheck[] => [{ severity: 'warning', path: ['audience'], message }];
  if (reach.state === 'failed') return visibility.state === 'unknown' ? warn(visibility.message) : [];
  if (reach.state === 'loading' || reach.value.total === 0) return [];
  const { users, shown, fewerThan } = reach.value;
  if (fewerThan !== null) return warn(`Fewer than ${fewerThan} users match this audience.`);
  if (users === 0) return warn('No users match this audience.');
  return shown === 0 && visibility.state === 'nobody' ? warn(visibility.message) : [];
};

/** Describes the estimated number of users in the audience of a draft. */
const describeReach = (loaded: Loaded<ReachResponse>): string => {
  if (loaded.state === 'loading') return 'Counting…';
  // An invalid draft has no estimate. Its checks report the reason.
  if (loaded.state === 'failed') return 'Not counted yet.';
  const { users, total, shown, fewerThan } = loaded.value;
  if (total === 0) return 'There are no users yet.';
  const reached = `Audience: ${formatReach(loaded.value)}.`;
  return fewerThan !== null || shown === users || shown === 0
    ? reached
    : `${reached} The others are in a higher-priority campaign, the control group or the holdout.`;
};

interface ReachProps {
  loaded: Loaded<ReachResponse>;
  visibility: Visibility;
}

/** Visibility of a draft and estimated size of its audience. */
export const Reach = ({ loaded, visibility }: ReachProps) => (
  <div role="status" aria-busy={loaded.state === 'loading'}>
    <p class="reach-visibility" data-visibility={visibility.state}>
      {visibility.message}
    </p>
    <p class="audience-reach">{describeReach(loaded)}</p>
  </div>
);
