/** A request as the gate sees it: nothing of it has been read but the head. */
export interface Exchange {
  method: string;
  /** The path as it came, without the query. */
  path: string;
  /** Without its `?`; `''` where there is none. */
  search: string;
  /** The IP address that sent it; `''` where it came through no socket. */
  address: string;
  /** `name` in lower case. */
  header(name: string): string | undefined;
  /** Reads the body as it was sent: `null` where it is longer than `maxBytes`. Rejects with an `HttpError` where it breaks off. */
  body(maxBytes: number): Promise<Uint8Array | null>;
}

/** An answer ready to be written. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}
