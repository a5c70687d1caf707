import {
  INTEGRATIONS_PATH,
  type Integration,
  PLACEMENTS_PATH,
  type SelectorPlacement,
  SYNC_PATH,
  USERS_TRACK_PATH,
  type UserTokenFault,
  VISITOR_JOIN_PATH,
} from '../protocol/index.ts';
import { createEventLog, type DeliveredEvent } from './event-log.ts';
import { type BannerSource, createDismissals, respondToPlacements, respondToSync } from './fake-banners.ts';
import {
  createResponse,
  ENDPOINTS,
  findRefusal,
  isOpenToPages,
  preflightResponse,
  type RecordedRequest,
} from './fake-endpoints.ts';
import { respondToIntegrations } from './fake-integrations.ts';
import type { FakeResponse } from './fake-response.ts';
import { createKnownUsers, respondToTrack } from './fake-track.ts';
import { type AcceptedObject, respondToUsersTrack } from './fake-users-track.ts';
import {
  ConnectionDropped,
  createFaults,
  type Fault,
  type FaultScope,
  forcedErrors,
  notTaken,
} from './fault.ts';
import { createFetch } from './network.ts';

/** Options of `createFakeService`. */
export interface FakeServiceOptions {
  /** Returns Unix milliseconds. Default: the system clock. */
  now?: (() => number) | undefined;
  /** Timer for faults with a delay. Default: the global `setTimeout`. */
  setTimeout?: ((callback: () => void, delayMs: number) => unknown) | undefined;
  /** Origin of the service; `fetch` fails for other hosts. Default `http://placard.test`. */
  origin?: string | undefined;
  /** Valid keys. Default `client-key` for banners, `server-key` for everything else. */
  clientKey?: string | undefined;
  serverKey?: string | undefined;
  /** IDs of existing apps. Banner requests for other apps fail with 400. Default: any app exists. */
  appIds?: string[] | undefined;
  /** Verifies the user token of a banner request. Returns the fault, or `null` if valid. Default: tokens are ignored. */
  userToken?: ((userId: unknown, token: unknown) => UserTokenFault | null) | undefined;
  /** External IDs of users that exist from the start, or `'everyone'`. Default: none. */
  users?: readonly string[] | 'everyone' | undefined;
  /** Banners by placement. */
  banners?: Record<string, BannerSource> | undefined;
  /** Placements with a selector, for pages with `selectors()`. Default: none. */
  placements?: SelectorPlacement[] | undefined;
  /** Integrations; `null` if ingestion is not set up. Default: none. */
  integrations?: Integration[] | null | undefined;
  /** Whether duplicate banner events are stored once. Default `true`. */
  deduplicates?: boolean | undefined;
  /** Delay until a dismissal affects syncs, in milliseconds. Default 0. */
  dismissalLagMs?: number | undefined;
}

/**
 * In-memory service with fault injection. It validates keys, paths, bodies, identifiers and events like the service. The first
 * events of a user who is neither in `users` nor created by `users/track` must be about banners that a sync returned to that
 * user. It does not validate attribute values, keeps no profiles and has no rate limits. To test these, run `placard/service` in
 * the same process.
 */
export interface FakeService {
  origin: string;
  /** Replacement for the global `fetch`. Reports faults as a browser does. */
  fetch: typeof fetch;
  /** Handler for a real server. Rejects with `ConnectionDropped` if the server must close the socket. */
  handle: (request: Request) => Promise<Response>;
  /** Injects a fault. Returns a function that lifts it. */
  fail: (fault: Fault, scope?: FaultScope) => () => void;
  /** Lifts all faults. */
  recover: () => void;
  /** Sets the banner of a placement. */
  setBanner: (placementId: string, banner: BannerSource) => void;
  /** Replaces keys, as in a rotation. */
  setKeys: (keys: { client?: string; server?: string }) => void;
  /** All requests except preflights, in order of arrival. */
  requests: RecordedRequest[];
  /** Returns the number of CORS preflights. */
  preflights: () => number;
  /** Stored banner events, in order of arrival. */
  events: DeliveredEvent[];
  /** Stored objects of `users/track`. */
  objects: AcceptedObject[];
  /** Clears requests, events, objects and dismissals. Keeps faults and banners. */
  clear: () => void;
}

const parsed = (text: string): { isJson: boolean; body: unknown } => {
  try {
    return { isJson: true, body: JSON.parse(text) };
  } catch {
    // The service responds with 400, and the recorded request keeps the text.
    return { isJson: false, body: text };
  }
};

const never = (): Promise<never> => new Promise(() => undefined);

/** Creates a fake service with the contract's sync, track, placements, users/track and integrations endpoints. */
export const createFakeService = (options: FakeServiceOptions = {}): FakeService => {
  const {
    now = () => Date.now(),
    setTimeout: timeout = (callback: () => void, delayMs: number) => setTimeout(callback, delayMs),
    origin = 'http://placard.test',
    integrations = [],
    placements = [],
    appIds,
    userToken = () => null,
    deduplicates = true,
    dismissalLagMs = 0,
  } = options;
  const keys = { client: options.clientKey ?? 'client-key', server: options.serverKey ?? 'server-key' };
  const banners = new Map<string, BannerSource>(Object.entries(options.banners ?? {}));
  const faults = createFaults();
  const log = createEventLog({ deduplicates });
  const dismissals = createDismissals(now, dismissalLagMs);
  const users = createKnownUsers(options.users);
  const requests: RecordedRequest[] = [];
  const objects: AcceptedObject[] = [];
  let preflights = 0;

  const validateRequest = (
    record: RecordedRequest,
    isJson: boolean,
    fault: Fault | undefined,
  ): FakeResponse => {
    const refusal = findRefusal(record, { keys, isJson, userToken });
    if (refusal) return refusal;
    if (record.path === INTEGRATIONS_PATH) {
      return respondToIntegrations(new URLSearchParams(record.query).get('cursor'), integrations);
    }
    if (record.path === SYNC_PATH) {
      return respondToSync(record.body, appIds, banners, dismissals.has, users.answer);
    }
    if (record.path === PLACEMENTS_PATH) return respondToPlacements(record.body, placements);
    if (record.path === VISITOR_JOIN_PATH) {
      const { external_user_id: userId, visitor_id: visitorId } = Object(record.body);
      if (users.has(visitorId)) users.add(userId);
      return { status: 200, body: { message: 'success' } };
    }
    const forced = forcedErrors(fault);
    if (record.path === USERS_TRACK_PATH) {
      const store = (taken: AcceptedObject[]) => {
        objects.push(...taken);
        users.take(taken);
      };
      return respondToUsersTrack(record.body, store, forced);
    }
    return respondToTrack(
      record.body,
      appIds,
      users,
      (userId, events) => {
        users.add(userId);
        log.take(userId, events);
        dismissals.take(userId, events);
      },
      forced,
    );
  };

  const respond = (record: RecordedRequest, answer: FakeResponse, fault: Fault | undefined): Response => {
    record.status = answer.status;
    return createResponse(record.path, answer, fault);
  };

  const handle = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    if (request.method === 'OPTIONS' && isOpenToPages(pathname)) {
      preflights += 1;
      return preflightResponse(request);
    }
    const text = await request.text();
    const { isJson, body } = parsed(text);
    const record: RecordedRequest = {
      at: now(),
      method: request.method,
      path: pathname,
      query: search,
      headers: new Headers(request.headers),
      body,
      text,
    };
    const fault = faults.take({ path: pathname, body: record.body, count: requests.length });
    if (fault) record.fault = fault;
    requests.push(record);
    if (fault?.type === 'hang' && !fault.stored) return never();
    if (fault?.type === 'drop' && fault.when === 'before')
      throw new ConnectionDropped('Dropped before acceptance');
    const dialect = ENDPOINTS[pathname]?.dialect ?? 'general';
    const instead = fault && notTaken(fault, dialect, pathname, now());
    if (instead) return respond(record, instead, fault);
    const answer = validateRequest(record, isJson, fault);
    if (fault?.type === 'hang') return never();
    if (fault?.type === 'drop') throw new ConnectionDropped('Dropped after acceptance');
    if (fault?.type === 'slow') await new Promise<void>((resolve) => timeout(resolve, fault.delayMs));
    return respond(record, answer, fault);
  };

  return {
    origin,
    handle,
    fetch: createFetch(handle, origin),
    fail: faults.add,
    recover: faults.clear,
    setBanner: (placementId, banner) => void banners.set(placementId, banner),
    setKeys: (next) => void Object.assign(keys, next),
    requests,
    preflights: () => preflights,
    events: log.events,
    objects,
    clear() {
      requests.length = 0;
      objects.length = 0;
      preflights = 0;
      log.clear();
      dismissals.clear();
      users.clear();
    },
  };
};
