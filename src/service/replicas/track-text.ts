import { type Identity, isRecord } from '../../protocol/index.ts';
import type { StoredEvent } from '../profiles/stored-event.ts';
import type { CheckedAttributes } from '../users/check-attributes.ts';
import type { CheckedDoing } from '../users/check-doing.ts';
import type { Track } from '../users/track-work.ts';
import { externalIdOf } from './external-id-of.ts';

/**
 * Must grow with every change of what stands below: replicas of two releases share a database while one follows the
 * other, and hand over to those alone who write as they do.
 */
export const TRACK_FORMAT = 1;

/** What is the same for most objects is left out: the text is half as long, and read in half the time. */
interface Who {
  user: string;
  email?: string | null;
  phone?: string | null;
  existing?: boolean;
}

interface AttributesText extends Who, Pick<CheckedAttributes, 'standard' | 'custom'> {
  merge?: true;
  groups?: CheckedAttributes['groups'];
  tokens?: CheckedAttributes['pushTokens'];
}

interface DoingText
  extends Who,
    Pick<StoredEvent, 'kind' | 'appId' | 'name' | 'time' | 'timeMs' | 'details'> {}

/** A track whose users are all named by external ID, as another replica reads it. */
export interface TrackText {
  workspaceId: string;
  nowMs: number;
  nestedAllowed: boolean;
  attributes: AttributesText[];
  doings: DoingText[];
}

const whoOf = (identity: Identity | null): Who => {
  const who: Who = { user: externalIdOf(identity) };
  const { email, phone, updateExistingOnly } = identity ?? {};
  if (email !== undefined) who.email = email;
  if (phone !== undefined) who.phone = phone;
  if (updateExistingOnly !== undefined) who.existing = updateExistingOnly;
  return who;
};

const identityOf = ({ user, email, phone, existing }: Who): Identity => ({
  lookup: { by: 'external_id', value: user },
  email,
  phone,
  updateExistingOnly: existing,
});

const attributesText = (checked: CheckedAttributes): AttributesText => {
  const text: AttributesText = {
    ...whoOf(checked.identity),
    standard: checked.standard,
    custom: checked.custom,
  };
  if (checked.mergeObjects) text.merge = true;
  if (checked.groups.length > 0) text.groups = checked.groups;
  if (checked.pushTokens.length > 0) text.tokens = checked.pushTokens;
  return text;
};

const doingText = ({ identity, event }: CheckedDoing): DoingText => {
  const { kind, appId, name, time, timeMs, details } = event;
  return { ...whoOf(identity), kind, appId, name, time, timeMs, details };
};

export const writeTrack = (track: Track): string => {
  const { workspaceId, nowMs, nestedAllowed } = track;
  const attributes = track.attributes.map(attributesText);
  const doings = track.doings.map(doingText);
  return JSON.stringify({ workspaceId, nowMs, nestedAllowed, attributes, doings } satisfies TrackText);
};

const isEach = (list: unknown, isRight: (object: Record<string, unknown>) => boolean): boolean =>
  Array.isArray(list) && list.every((object) => isRecord(object) && isRight(object));

const isAttributes = ({
  user,
  standard,
  custom,
  groups = [],
  tokens = [],
}: Record<string, unknown>): boolean =>
  typeof user === 'string' && [standard, custom, groups, tokens].every(Array.isArray);

const isDoing = ({ user, kind, name, time, timeMs, details }: Record<string, unknown>): boolean =>
  [user, kind, name, time].every((text) => typeof text === 'string') &&
  typeof timeMs === 'number' &&
  isRecord(details);

/** The replica that wrote it may be of another build, whatever it says of its format. */
const isTrackText = (value: unknown): value is TrackText =>
  isRecord(value) &&
  typeof value['workspaceId'] === 'string' &&
  typeof value['nowMs'] === 'number' &&
  isEach(value['attributes'], isAttributes) &&
  isEach(value['doings'], isDoing);

/** Throws where it is no track. */
export const readTrack = (value: unknown): Track => {
  if (!isTrackText(value)) throw new TypeError('Not a track as this version writes it');
  return trackOf(value);
};

const trackOf = ({ workspaceId, nowMs, nestedAllowed, attributes, doings }: TrackText): Track => ({
  workspaceId,
  nowMs,
  nestedAllowed,
  attributes: attributes.map((text) => ({
    identity: identityOf(text),
    mergeObjects: text.merge ?? false,
    standard: text.standard,
    custom: text.custom,
    groups: text.groups ?? [],
    pushTokens: text.tokens ?? [],
    // Neither has a meaning any more: tokens that are imported name no user, and what is bad was told and left out.
    isTokenImport: false,
    hasBadNested: false,
  })),
  doings: doings.map((text) => ({
    identity: identityOf(text),
    event: {
      externalId: null,
      brazeId: '',
      kind: text.kind,
      appId: text.appId,
      name: text.name,
      time: text.time,
      timeMs: text.timeMs,
      receivedAtMs: nowMs,
      details: text.details,
    },
  })),
});
