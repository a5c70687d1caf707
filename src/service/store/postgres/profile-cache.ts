import type { Profile } from '../../profiles/profile.ts';

/** Profiles that a replica remembers in each of two generations, and the characters of their texts. */
const MAX_PROFILES = 25_000;
const MAX_CHARACTERS = 32 * 1024 * 1024;

/** A profile as the row of this version holds it. */
export interface Known {
  readonly workspaceId: string;
  readonly profile: Profile;
  /** Where it is found; the profile may have got another one since. */
  externalId: string | null;
  version: number;
  /** Of its text. */
  characters: number;
}

/** What is known of a profile once a write of it is committed. */
export interface After {
  known: Known;
  version: number;
  characters: number;
}

interface Generation {
  byId: Map<string, Known>;
  byExternalId: Map<string, Known>;
}

const createGeneration = (): Generation => ({ byId: new Map(), byExternalId: new Map() });

const nameOf = (workspaceId: string, externalId: string) => `${workspaceId} ${externalId}`;

/**
 * Remembers profiles with the version of their row. Whoever holds the row's lock and sees the same version need not
 * read the profile again; any other version was written by another replica. A version is a number that no other write
 * has, so that what is remembered of a commit that a failover lost never passes for what was written in its place.
 */
export const createProfileCache = () => {
  let young = createGeneration();
  let old = createGeneration();
  let characters = 0;

  const add = (known: Known) => {
    const { workspaceId, profile, externalId } = known;
    young.byId.set(profile.brazeId, known);
    if (externalId !== null) young.byExternalId.set(nameOf(workspaceId, externalId), known);
    characters += known.characters;
    if (young.byId.size <= MAX_PROFILES && characters <= MAX_CHARACTERS) return;
    old = young;
    young = createGeneration();
    characters = 0;
  };

  const forget = (brazeId: string) => {
    const kept = young.byId.get(brazeId);
    if (kept) characters -= kept.characters;
    for (const { byId, byExternalId } of [young, old]) {
      const known = byId.get(brazeId);
      if (!known) continue;
      byId.delete(brazeId);
      const { workspaceId, externalId } = known;
      if (externalId !== null) byExternalId.delete(nameOf(workspaceId, externalId));
    }
  };

  return {
    /** Who bore the external ID when he was last looked at. */
    find(workspaceId: string, externalId: string): Known | undefined {
      const name = nameOf(workspaceId, externalId);
      let known = young.byExternalId.get(name);
      if (!known) {
        known = old.byExternalId.get(name);
        if (known && !young.byId.has(known.profile.brazeId)) add(known);
      }
      return known?.profile.externalId === externalId ? known : undefined;
    },

    /** Remembers what is committed. */
    keep({ known, version, characters: length }: After) {
      const { brazeId, externalId } = known.profile;
      if (young.byId.get(brazeId) === known && known.externalId === externalId) {
        characters += length - known.characters;
        known.version = version;
        known.characters = length;
        return;
      }
      forget(brazeId);
      add(Object.assign(known, { externalId, version, characters: length }));
    },

    forget,
  };
};

export type ProfileCache = ReturnType<typeof createProfileCache>;
