import { serialOf } from '../../profiles/braze-id.ts';
import { writeProfile } from '../../profiles/profile-text.ts';
import type { Changes, Entry } from '../entry.ts';
import { packEvents } from '../packed-events.ts';
import type { Behind } from './behind.ts';
import { bytesOf, type Group } from './group.ts';
import { type PackedAttributes, packAttributes } from './packed-attributes.ts';

export interface RequestDone {
  request: number;
  workspaceId: string;
  nowMs: number;
  changes: Changes;
}

export interface AddChangesOptions {
  /** The group, and its number. */
  group: Group;
  number: number;
  behind: Pick<Behind, 'add' | 'stored'>;
  weigh(characters: number, profiles?: number): void;
}

export const idOf = (brazeId: string): number => {
  const serial = serialOf(brazeId);
  // As NULL it would be stored under a number that nobody finds again.
  if (serial === null) throw new Error('A user has an ID that has no number in it');
  return serial;
};

/** Adds what a request did to the group: to the journal and the events, and to rows where a row cannot wait. */
export const addChanges = (
  { request, workspaceId, nowMs, changes }: RequestDone,
  { group, number, behind, weigh }: AddChangesOptions,
): void => {
  const noted: PackedAttributes[] = [];
  const later: Entry[] = [];
  for (const { entry, change } of changes.entries) {
    const { profile } = entry;
    entry.commit = number;
    if (change === 'recorded' || change === 'attributes') {
      if (change === 'attributes') noted.push(packAttributes(profile));
      later.push(entry);
      continue;
    }
    // Made, renamed, merged or removed: rare enough for the row to be written at once.
    entry.behindSince = 0;
    if (change === 'removed') {
      if (!entry.isNew) group.deletes.push(idOf(profile.brazeId));
      continue;
    }
    const text = writeProfile(profile);
    weigh(text.length);
    if (entry.isNew) group.inserts.push(idOf(profile.brazeId), workspaceId, text, request);
    else group.updates.push(text, request, idOf(profile.brazeId));
    entry.isNew = false;
  }
  for (const { entry, key } of changes.keysRemoved) {
    group.keys.push(workspaceId, key, idOf(entry.profile.brazeId), 0);
  }
  for (const { entry, key } of changes.keysAdded) {
    group.keys.push(workspaceId, key, idOf(entry.profile.brazeId), 1);
  }
  let stored = 0;
  let characters = 0;
  if (noted.length > 0) {
    const text = JSON.stringify(noted);
    stored += text.length;
    characters = text.length / noted.length;
    weigh(characters, noted.length);
    group.journal.push(request, workspaceId, bytesOf(group, text));
  }
  for (const entry of later) behind.add(entry, request, characters);
  if (changes.events.length > 0) {
    let newest = 0;
    for (const { timeMs } of changes.events) if (timeMs > newest) newest = timeMs;
    const text = packEvents(changes.events);
    stored += text.length;
    group.events.push(request, workspaceId, nowMs, newest, bytesOf(group, text));
  }
  behind.stored(stored);
  for (const { day, count } of changes.points) group.points.push(workspaceId, day, count);
};
