import type { Identity } from '../../protocol/index.ts';

/** The external ID that an object names its user by. Only tracks in which all do are divided, and only those handed over. */
export const externalIdOf = (identity: Identity | null): string => {
  if (identity?.lookup.by === 'external_id') return identity.lookup.value;
  throw new Error('Only users with an external ID are handed over');
};
