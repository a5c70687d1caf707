import { hash } from 'node:crypto';
import { MAX_TRACK_EVENTS } from '../../protocol/index.ts';
import type { NewBannerEvent } from '../profiles/events.ts';
import type { KeyQuota } from '../profiles/profile.ts';
import type { UserRepository } from '../profiles/user-repository.ts';
import { checkAttributes, checkEvent } from './check-objects.ts';
import { createErrorCollector } from './error-collector.ts';
import { applyTrack } from './track-mutation.ts';
import type { UserRules } from './user-rules.ts';

/** What a click of a variant does to the user who clicked. */
export interface OnClick {
  /** Name of a custom event. */
  event: string | null;
  attributes: Readonly<Record<string, string | number | boolean>>;
}

/**
 * Clicks of a user that are known to have had their effect: a client repeats a request whose answer it has not read. The profile keeps
 * them, as `banner_events` cannot be asked: on SQLite a group is applied while the one before it is not in the file yet.
 */
export const CLICK_DEDUPE_LIMIT = MAX_TRACK_EVENTS;
const KEY_CHARACTERS = 12;

type Click = Pick<NewBannerEvent, 'bannerId' | 'timeMs' | 'appId'>;

const keyOf = ({ bannerId, timeMs }: Click): string =>
  hash('sha256', `${bannerId} ${timeMs}`, 'base64url').slice(0, KEY_CHARACTERS);

/** Notes that a click has its effect now. False where it has had it. */
const isFirst = (users: UserRepository, externalId: string, key: string, nowMs: number): boolean => {
  const [found] = users.find({ by: 'external_id', value: externalId });
  const profile = found ?? users.create({ externalId }, nowMs);
  if (profile.clicks.includes(key)) return false;
  profile.clicks = [...profile.clicks, key].slice(-CLICK_DEDUPE_LIMIT);
  users.changed(profile, nowMs);
  return true;
};

/**
 * What a click does, by the rules of `/users/track`, to be applied in the work that stores the click: both are committed or neither, and a
 * click that is sent again does it no second time.
 */
export const clickAction = (
  click: Click,
  { event, attributes }: OnClick,
  {
    workspace,
    externalId,
    names,
    nowMs,
  }: { workspace: UserRules; externalId: string; names: KeyQuota; nowMs: number },
): ((users: UserRepository) => void) => {
  // What is wrong with it was refused when the campaign was read; a user who is blocked stays as they are.
  const problems = createErrorCollector();
  const time = new Date(Math.min(click.timeMs, nowMs)).toISOString();
  const changed = checkAttributes({ external_id: externalId, ...attributes }, workspace, problems);
  const done =
    event === null
      ? null
      : checkEvent(
          { external_id: externalId, app_id: click.appId, name: event, time },
          'events',
          workspace,
          nowMs,
          problems,
        );
  const track = {
    nowMs,
    attributes: changed && Object.keys(attributes).length > 0 ? [changed] : [],
    events: done ? [done] : [],
  };
  const key = keyOf(click);
  return (users) => {
    if (!workspace.blockedExternalIds.has(externalId) && isFirst(users, externalId, key, nowMs))
      applyTrack(users, track, names);
  };
};
