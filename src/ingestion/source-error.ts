/** A failure that its message explains to the operator: a missing column, a file that is not there. */
export class SourceError extends Error {
  override name = 'SourceError';
}
