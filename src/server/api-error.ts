import type { RateLimitInfo } from '../protocol/index.ts';

/** A request that the service refused, or would not answer properly after all attempts. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Method and path, for example `POST /users/track`. */
  readonly endpoint: string;
  /** Whether the same request may succeed later: 429 and 5xx. */
  readonly retryable: boolean;
  /** The service's own text; for people, not for branching. */
  readonly serverMessage: string | undefined;
  /** The `errors` of the answer, as they came. */
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
      `${facts.endpoint} answered ${facts.status}${facts.serverMessage ? `: ${facts.serverMessage}` : ''}`,
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
 * A request whose answer was never read (timeout, lost connection, 504): the service may have taken it or not. `cause`
 * is what happened.
 */
export class InDoubtError extends Error {
  override readonly name = 'InDoubtError';
  readonly endpoint: string;

  constructor(endpoint: string, cause: unknown) {
    // Reading takes nothing: there it is only that no answer came.
    const doubt = endpoint.startsWith('GET ') ? 'has failed' : 'may have been taken or not';
    super(`${endpoint} ${doubt}: its answer was never read`, { cause });
    this.endpoint = endpoint;
  }
}

/** A request that never left: nothing listens there, or the host has no address. `cause` is the platform's own error. */
export class UnsentError extends Error {
  override readonly name = 'UnsentError';
  readonly endpoint: string;

  constructor(endpoint: string, host: string, cause: unknown) {
    super(`${endpoint} was not sent: no connection to ${host}`, { cause });
    this.endpoint = endpoint;
  }
}
