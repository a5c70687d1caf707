/** Nothing of the write was stored, and the same may go through in a moment. */
export class RetryLaterError extends Error {
  override name = 'RetryLaterError';
}

/** The write may be stored or not: the database did not say. Sent again, it could count twice. */
export class InDoubtError extends Error {
  override name = 'InDoubtError';
}
