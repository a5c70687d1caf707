import type { Answer } from '../../platform/http.ts';

/** The result of a request. The deferred chunk knows what to do if all events were accepted; the rest is for the trouble chunk. */
export type Sent =
  | { type: 'response'; response: Answer; isAllAccepted: boolean }
  /** `isFirst`: the network changed in the meantime, so it says nothing about the new one. */
  | { type: 'no-response'; cause: unknown; isFirst: boolean; wasOffline: boolean };
