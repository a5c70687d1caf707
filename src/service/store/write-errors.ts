/** Nothing of the write was stored, and the same may go through in a moment. */
export class RetryLaterError extends Error {
  override name = 'RetryLaterError';
}

/** The write may be stored or not: the database did not say. Sent again, it could count twice. */
export class InDoubtError extends Error {
  override name = 'InDoubtError';
}

/** Another replica has written, or taken a key from, a user that a group has read. Nothing of the group was stored. */
export class ConflictError extends Error {
  override name = 'ConflictError';
}
