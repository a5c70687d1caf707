import type { RateLimitInfo } from '../protocol/index.ts';

/** Error of a request that the API rejected, or that got no usable response after all attempts. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Method and path, for example `POST /users/track`. */
  readonly endpoint: string;
  /** Whether the same request may succeed later (429 and 5xx). */
  readonly retryable: boolean;
  /** Error message of the API, for display. */
  readonly serverMessage: string | undefined;
  /** `errors` of the response, unchanged. */
  readonly errors: unknown[];
  readonly rateLimit: RateLimitInfo;

  constructor(facts: {
    status: number;
    endpoint: string;
    retryable: boolean;
    serverMessage?: string | undefined;
    errors?: unknown[] | undefined;
    rateLimit?: RateLimitInfo;
  }) {
    super(
      `${facts.endpoint} returned ${facts.status}${facts.serverMessage ? `: ${facts.serverMessage}` : ''}`,
    );
    this.status = facts.status;
    this.endpoint = facts.endpoint;
    this.retryable = facts.retryable;
    this.serverMessage = facts.serverMessage;
    this.errors = facts.errors ?? [];
    this.rateLimit = facts.rateLimit ?? {};
  }
}

/**
 * Error of a request without a response (timeout, lost connection, 504), whose outcome is unknown. `cause` is the underlying
 * error.
 */
export class InDoubtError extends Error {
  override readonly name = 'InDoubtError';
  readonly endpoint: string;

  constructor(endpoint: string, cause: unknown) {
    const outcome = endpoint.startsWith('GET ') ? 'failed' : 'is in doubt';
    super(`${endpoint} ${outcome}: no response arrived`, { cause });
    this.endpoint = endpoint;
  }
}

/** Error of a failed connection to the host, over which nothing was sent. `cause` is the error of the platform. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly endpoint: string;

  constructor(endpoint: string, host: string, cause: unknown) {
    super(`${endpoint} was not sent: no connection to ${host}`, { cause });
    this.endpoint = endpoint;
  }
}
