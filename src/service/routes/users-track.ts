import {
  INPUT_ARRAYS,
  isRecord,
  MAX_BODY_BYTES,
  MAX_BULK_BODY_BYTES,
  MAX_BULK_OBJECTS,
  MAX_BULK_OBJECTS_PER_USER,
  MAX_TRACK_OBJECTS,
  MAX_USERS_TRACK_VALUES,
  USERS_TRACK_PATH,
  type UsersTrackAnswer,
} from '../../protocol/index.ts';
import {
  usersTrackAnswer,
  usersTrackBody,
  usersTrackBulkRequest,
  usersTrackRequest,
} from '../../protocol/schemas/index.ts';
import { backendBody, defineRoute, type Operation, type Route, type RouteMetrics } from '../gate/route.ts';
import { schemaReader } from '../http/body.ts';
import { HttpError, refusalOf, replyOf } from '../http/exchange.ts';
import { silentLog } from '../log.ts';
import type { Store } from '../store/store.ts';
import { type ObjectLimit, trackUsers } from '../users/track.ts';
import { parseWorkspace } from '../workspace/parse-workspace.ts';
import type { Workspace } from '../workspace/workspace.ts';

const recordErrors = (metrics: RouteMetrics, errors: unknown) => {
  if (!Array.isArray(errors)) return;
  for (const entry of errors) {
    // A text with a name from the wire in it is not a code: as a label it would have endless values.
    if (isRecord(entry)) metrics.error(codeOf(String(entry['type'])));
  }
};

const codeOf = (type: string): string => {
  if (type.startsWith("Invalid nested custom attribute '")) return 'INVALID_NESTED_CUSTOM_ATTRIBUTE';
  const named = /^'.*' is (not valid|required)$/s.exec(type);
  if (named) return named[1] === 'required' ? 'REQUIRED' : 'NOT_VALID';
  return type;
};

/** Counts what was accepted and what was refused, whether the answer is one or a refusal. */
const recordTrack = async (
  metrics: RouteMetrics,
  work: Promise<UsersTrackAnswer>,
): Promise<UsersTrackAnswer> => {
  try {
    const answer = await work;
    for (const name of INPUT_ARRAYS) {
      const count = answer[`${name}_processed`];
      if (count !== undefined) metrics.objects(name, count);
    }
    recordErrors(metrics, answer.errors);
    return answer;
  } catch (error) {
    if (error instanceof HttpError) recordErrors(metrics, error.members?.['errors']);
    throw error;
  }
};

const EXAMPLE = {
  attributes: [{ external_id: 'u-771', tier: 'gold', visits: { inc: 1 } }],
  events: [
    { external_id: 'u-771', name: 'quiz_done', time: '2026-03-01T09:15:00.000Z', properties: { score: 8 } },
  ],
  purchases: [
    {
      external_id: 'u-771',
      product_id: 'teapot',
      currency: 'EUR',
      price: 42.5,
      time: '2026-03-01T09:16:00.000Z',
    },
  ],
};

interface TrackRoute {
  path: string;
  permission: Route['permission'];
  limit: Route['limit'];
  /** What the description shows. Of what comes, each object is judged alone. */
  schema: typeof usersTrackRequest;
  bounds: { maxBytes: number; tooLarge: 413 | 400 };
  operation: Pick<Operation, 'id' | 'summary' | 'description'>;
  objects(workspace: Workspace): ObjectLimit;
}

const trackRoute = ({ path, permission, limit, schema, bounds, operation, objects }: TrackRoute) =>
  defineRoute({
    method: 'POST',
    path,
    permission,
    errors: 'general',
    rate: 'users-track',
    limit,
    request: backendBody(
      { ...schemaReader(usersTrackBody), schema },
      { ...bounds, maxValues: MAX_USERS_TRACK_VALUES },
    ),
    operation: {
      ...operation,
      tag: 'Users',
      example: EXAMPLE,
      success: 201,
      answer: usersTrackAnswer,
      writes: true,
      badRequest: 'No object was valid, there were too many, or the body is no JSON.',
    },
    async answer({ workspace, store, body, now, metrics }) {
      const tracked = trackUsers({ workspace, store, body, nowMs: now, limit: objects(workspace) });
      return { status: 201, body: await recordTrack(metrics, tracked) };
    },
  });

export const usersTrack = trackRoute({
  path: USERS_TRACK_PATH,
  permission: 'users.track',
  limit: 'users_track',
  schema: usersTrackRequest,
  bounds: { maxBytes: MAX_BODY_BYTES, tooLarge: 413 },
  operation: {
    id: 'trackUsers',
    summary: 'Record attributes, events and purchases',
    description: `At most ${MAX_TRACK_OBJECTS} objects over all arrays. \`errors\` says what is wrong with single objects, by array and index; the others are stored. Attributes are applied first, then events, then purchases.`,
  },
  objects: ({ trackObjects }) => ({ max: MAX_TRACK_OBJECTS, counting: trackObjects }),
});

export const usersTrackBulk = trackRoute({
  path: '/users/track/bulk',
  permission: 'users.track.bulk',
  limit: 'users_track_bulk',
  schema: usersTrackBulkRequest,
  bounds: { maxBytes: MAX_BULK_BODY_BYTES, tooLarge: 400 },
  operation: {
    id: 'trackUsersInBulk',
    summary: 'Record many attributes, events and purchases',
    description: `Like \`/users/track\`, with at most ${MAX_BULK_OBJECTS.toLocaleString('en-US')} objects, ${MAX_BULK_OBJECTS_PER_USER} of one user, and 2 MB.`,
  },
  objects: () => ({ max: MAX_BULK_OBJECTS, counting: 'combined', maxPerUser: MAX_BULK_OBJECTS_PER_USER }),
});

/** Apps are known to the workspace alone: here every ID is one. */
class AnyApp extends Set<string> {
  override has(): boolean {
    return true;
  }
}

/** And of subscription groups too. */
class AnyGroup extends Map<string, { name: string; channel: string }> {
  override get() {
    return { name: '', channel: 'sms' };
  }
}

const NOTHING_STORED = { write: async () => [] as never } satisfies Pick<Store, 'write'>;

/** Judges a request of `/users/track` by the service's own rules, and stores nothing. In place of a client's `fetch`. */
export const judgeTrack: typeof fetch = async (input, init) => {
  const workspace: Workspace = {
    ...parseWorkspace({ workspace_id: 'dry-run', apps: [], api_keys: [] }),
    appIds: new AnyApp(),
    subscriptionGroups: new AnyGroup(),
  };
  const judge = async () =>
    trackUsers({
      workspace,
      store: NOTHING_STORED,
      body: schemaReader(usersTrackBody).read(await new Request(input, init).json()),
      nowMs: Date.now(),
      limit: { max: MAX_TRACK_OBJECTS, counting: 'combined' },
    });
  const { status, headers, body } = await judge().then(
    (answer) => replyOf({ status: 201, body: answer }),
    (error: unknown) => refusalOf(error, 'general', silentLog, {}),
  );
  return new Response(body, { status, headers });
};
