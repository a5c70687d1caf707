import type { HttpResponse } from '../../platform/http.ts';

/** Result of a request. The deferred chunk handles a response that accepts all events; the trouble chunk handles the rest. */
export type RequestResult =
  | { type: 'response'; response: HttpResponse; isAllAccepted: boolean }
  /** `isNewNetwork`: the network changed during the request, so the failure does not count against the new network. */
  | { type: 'no-response'; cause: unknown; isNewNetwork: boolean; wasOffline: boolean };
