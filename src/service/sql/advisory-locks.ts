/** Advisory locks in PostgreSQL, which all replicas of a database share. */
export const LOCKS = {
  /** Serializes replicas that start together and create the tables. */
  schema: 7_061_636,
  /** Namespace of the locks of contacts. The second key is the slot of a contact. */
  contacts: 7_061_638,
  /**
   * Lock of every group, shared or exclusive. After a conflict, a group retries with the exclusive lock, so that it fails at most
   * once.
   */
  groups: 7_061_639,
  /** Shared for group commits that move rows, exclusive for retention. */
  merges: 7_061_640,
} as const;
