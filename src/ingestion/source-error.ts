/** Failure that the operator can fix, such as a missing column or file. */
export class SourceError extends Error {
  override name = 'SourceError';

  /** Message as a full sentence. */
  get sentence(): string {
    return `${this.message.slice(0, 1).toUpperCase()}${this.message.slice(1)}`;
  }

  /** Converts an error to a `SourceError` with a prefix, such as the file. Returns a `SourceError` unchanged. */
  static from(error: unknown, prefix = ''): SourceError {
    if (error instanceof SourceError) return error;
    return new SourceError(prefix + (error instanceof Error ? error.message : String(error)), {
      cause: error,
    });
  }
}
