export interface PageOptions {
  /** Only entries before this one: a release's number, an audit entry's time. */
  before?: number;
  limit: number;
}
