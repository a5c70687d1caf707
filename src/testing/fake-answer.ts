/** What a fake endpoint answers; `errors` of a fault were already put in. */
export interface FakeAnswer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** Entries of `errors` that a fault asks for, on top of what the endpoint finds itself. */
export interface ForcedErrors {
  /** Events to skip, with the text to give. */
  skip?: { indices: number[]; reason: string };
  /** `errors` to answer as they are, everything sound stored. */
  raw?: { errors: unknown[]; processed?: number };
}
