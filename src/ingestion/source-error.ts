/** A failure that its message explains to the operator: a missing column, a file that is not there. */
export class SourceError extends Error {
  override name = 'SourceError';

  /** The message as a sentence of its own. */
  get sentence(): string {
    return `${this.message.slice(0, 1).toUpperCase()}${this.message.slice(1)}`;
  }
}
