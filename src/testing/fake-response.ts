/** Response of a fake endpoint, including the `errors` of a fault. */
export interface FakeResponse {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** Entries of `errors` that a fault adds to the endpoint's own entries. */
export interface ForcedErrors {
  /** Events to skip, and the reason to report. */
  skip?: { indices: number[]; reason: string };
  /** `errors` to return unchanged. Valid objects are stored. */
  raw?: { errors: unknown[]; processed?: number };
}
