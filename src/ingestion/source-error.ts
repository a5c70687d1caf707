/** Failure that the operator can fix, such as a missing column or file. */
export class SourceError extends Error {
  override name = 'SourceError';

  /** Message as a full sentence. */
  get sentence(): string {
    return `${this.message.slice(0, 1).toUpperCase()}${this.message.slice(1)}`;
  }
}
