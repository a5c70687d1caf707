/** Nothing of the write was stored, and the same again may go through in a moment. */
export class NotNowError extends Error {
  override name = 'NotNowError';
}

/** The write may be stored or not: nobody has heard. The same again could count twice. */
export class InDoubtError extends Error {
  override name = 'InDoubtError';
}
