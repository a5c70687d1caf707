import * as z from 'zod';
import {
  type BannerUser,
  HttpError,
  impressionsSince,
  LOOK_AT_USER,
  personaProfile,
} from '../../service/index.ts';
import type { StudioContext } from './route.ts';

/** Whom something is looked at as: a persona by its name, a user by their external ID, or somebody new. */
export const personBody = z.union([
  z.strictObject({ persona: z.string() }),
  z.strictObject({ user: z.string().min(1).max(1_000) }),
  z.strictObject({}),
]);
export type PersonBody = z.infer<typeof personBody>;

export interface Person {
  externalId: string;
  /** What a decision needs to know of them. */
  user: BannerUser;
  /** A made-up person is in no group, and gets no variant rather than another. */
  isReal: boolean;
}

/** Nobody's external ID, so that nothing of a real user is read or decided for a made-up one. */
const NOBODY = 'placard-studio-persona';

/** A real user's data needs the right `people`, and is written into the audit. */
export const personOf = async (
  who: PersonBody,
  { workspace, store, operator, nowMs, audit }: StudioContext,
): Promise<Person> => {
  if ('user' in who) {
    if (!operator.people) throw new HttpError(403, 'Looking at a user needs the right "people"');
    await audit(LOOK_AT_USER, who.user);
    return {
      externalId: who.user,
      user: await store.bannerUser(workspace.workspaceId, who.user, impressionsSince(workspace, nowMs)),
      isReal: true,
    };
  }
  const persona = 'persona' in who && workspace.studio.personas.find(({ name }) => name === who.persona);
  if ('persona' in who && !persona) throw new HttpError(404, 'There is no such persona');
  return {
    externalId: NOBODY,
    user: { profile: persona ? personaProfile(persona, nowMs) : null, campaigns: [], impressions: [] },
    isReal: false,
  };
};
