import { hash } from 'node:crypto';
import { MAX_TRACK_EVENTS } from '../../protocol/index.ts';
import type { NewBannerEvent } from '../profiles/events.ts';
import type { KeyQuota } from '../profiles/profile.ts';
import type { UserRepository } from '../profiles/user-repository.ts';
import { checkAttributes, checkEvent } from './check-objects.ts';
import { createErrorCollector } from './error-collector.ts';
import { applyTrack } from './track-mutation.ts';
import type { UserRules } from './user-rules.ts';

/** Effects of a click on the user's profile. */
export interface OnClick {
  event: string | null;
  attributes: Readonly<Record<string, string | number | boolean>>;
}

/**
 * Number of clicks kept for deduplication, because clients retry requests if a response is lost. The profile contains them,
 * because SQLite applies a group before the banner events of the previous group are in the file.
 */
export const CLICK_DEDUPE_LIMIT = MAX_TRACK_EVENTS;
const KEY_CHARACTERS = 12;

type Click = Pick<NewBannerEvent, 'bannerId' | 'timeMs' | 'appId'>;

const toClickKey = ({ bannerId, timeMs }: Click): string =>
  hash('sha256', `${bannerId} ${timeMs}`, 'base64url').slice(0, KEY_CHARACTERS);

/** Records that a click takes effect, and creates a profile for a user without one. Returns `false` if it already took effect. */
const claimClick = (users: UserRepository, externalId: string, key: string, nowMs: number): boolean => {
  const [found] = users.find({ by: 'external_id', value: externalId });
  const profile = found ?? users.create({ externalId }, nowMs);
  if (profile.onClickHashes.includes(key)) return false;
  // Appends in place, because copying the list for each click of a request is O(n²).
  profile.onClickHashes.push(key);
  if (profile.onClickHashes.length > CLICK_DEDUPE_LIMIT) profile.onClickHashes.shift();
  users.changed(profile, nowMs);
  return true;
};

/**
 * Returns the effect of a click by the rules of `/users/track`, for the transaction that stores the click. One transaction
 * commits both, so a retried click has no second effect.
 */
export const createClickEffect = (
  click: Click,
  { event, attributes }: OnClick,
  {
    workspace,
    externalId,
    keyQuota,
    nowMs,
  }: { workspace: UserRules; externalId: string; keyQuota: KeyQuota; nowMs: number },
): ((users: UserRepository) => void) => {
  // The campaign's parser has rejected invalid effects. A blocked user is not changed.
  const errors = createErrorCollector();
  const time = new Date(Math.min(click.timeMs, nowMs)).toISOString();
  const changed = checkAttributes({ external_id: externalId, ...attributes }, workspace, errors);
  const done =
    event === null
      ? null
      : checkEvent(
          { external_id: externalId, app_id: click.appId, name: event, time },
          'events',
          workspace,
          nowMs,
          errors,
        );
  const track = {
    nowMs,
    attributes: changed && Object.keys(attributes).length > 0 ? [changed] : [],
    events: done ? [done] : [],
  };
  const key = toClickKey(click);
  return (users) => {
    if (!workspace.blockedExternalIds.has(externalId) && claimClick(users, externalId, key, nowMs))
      applyTrack(users, track, keyQuota);
  };
};
