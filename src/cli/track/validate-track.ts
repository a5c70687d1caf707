import { MAX_TRACK_OBJECTS } from '../../protocol/index.ts';
import { readBody, usersTrackBody } from '../../protocol/schemas/index.ts';
import { HttpError, parseWorkspace, trackUsers } from '../../service/index.ts';

/** Set that contains every app ID, because no workspace is loaded. */
class AnyApp extends Set<string> {
  override has(): boolean {
    return true;
  }
}

/** Map that contains every subscription group, because no workspace is loaded. */
class AnyGroup extends Map<string, { name: string; channel: string }> {
  override get() {
    return { name: '', channel: 'sms' };
  }
}

const workspace = {
  ...parseWorkspace({ workspace_id: 'dry-run', apps: [], api_keys: [] }),
  appIds: new AnyApp(),
  subscriptionGroups: new AnyGroup(),
};

const validate = (body: unknown) => {
  const arrays = readBody(usersTrackBody, body);
  if (typeof arrays === 'string') throw new HttpError(400, arrays);
  return trackUsers({
    workspace,
    store: { write: async () => [] },
    body: arrays,
    nowMs: Date.now(),
    limit: { max: MAX_TRACK_OBJECTS, counting: 'combined' },
  });
};

/** Replaces a client's `fetch`: validates a `/users/track` request by the service's rules and stores nothing. */
export const validateTrack: typeof fetch = async (input, init) => {
  try {
    return Response.json(await validate(await new Request(input, init).json()), { status: 201 });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return Response.json({ message: error.message, ...error.members }, { status: error.status });
  }
};
