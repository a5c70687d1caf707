import type { Identity } from '../../protocol/index.ts';
import type { Lookup } from '../profiles/user-set.ts';
import type { Track } from '../users/track-work.ts';
import { externalIdOf } from './external-id-of.ts';

/** True where every object names its user by an external ID and touches nobody else: then users can be told apart. */
export const isDivisible = (track: Track, lookups: readonly Lookup[]): boolean =>
  lookups.every(({ by }) => by === 'external_id') &&
  track.attributes.every(({ identity }) => identity !== null);

/**
 * A track in parts, one for each owner, with the objects of a user in their order. Parts are done side by side: of two
 * users who get the same e-mail address in one request, either may pass for the one who was updated last.
 */
export const divideTrack = <T>(
  track: Track,
  ownerOf: (workspaceId: string, externalId: string) => T,
): Map<T, Track> => {
  const { workspaceId, nowMs, nestedAllowed } = track;
  const parts = new Map<T, Track>();
  const partOf = (identity: Identity | null): Track => {
    const owner = ownerOf(workspaceId, externalIdOf(identity));
    const known = parts.get(owner);
    if (known) return known;
    const part: Track = { workspaceId, nowMs, nestedAllowed, attributes: [], doings: [] };
    parts.set(owner, part);
    return part;
  };
  for (const checked of track.attributes) partOf(checked.identity).attributes.push(checked);
  for (const doing of track.doings) partOf(doing.identity).doings.push(doing);
  return parts;
};
