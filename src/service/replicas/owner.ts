import { fnv1a } from '../fnv-1a.ts';

/** The finishing steps of MurmurHash3: near numbers end far from each other. */
const mixed = (number: number): number => {
  let mix = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
};

/**
 * Chooses the owner of a user: each owner draws a number for the user, and the highest wins (rendezvous hashing). All
 * who know the same owners choose the same one, and one who comes or goes moves no user between the others.
 */
export const createChooser = <T extends { id: string }>(owners: readonly T[]) => {
  const seeds = owners.map(({ id }) => fnv1a(id));
  return (workspaceId: string, externalId: string): T => {
    const user = fnv1a(`${workspaceId} ${externalId}`);
    let best = 0;
    let highest = -1;
    for (let i = 0; i < seeds.length; i += 1) {
      const drawn = mixed(user ^ seeds[i]!);
      if (drawn > highest) {
        highest = drawn;
        best = i;
      }
    }
    return owners[best]!;
  };
};
