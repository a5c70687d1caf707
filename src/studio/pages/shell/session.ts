import { signal } from '@preact/signals';
import { includesRole, type Role } from '../../../protocol/index.ts';
import type { AudienceName } from '../../campaign/conditions/condition-kind.ts';
import type { SessionResponse } from '../../server/routes/access.ts';
import { ApiError, call, describeError, onSignedOut } from '../call.ts';

/** Current session; `undefined` until loaded, `null` if signed out. */
export const session = signal<SessionResponse | null | undefined>(undefined);
/** Reason that the session could not be loaded; `null` if none. */
export const sessionProblem = signal<string | null>(null);

/** Whether the session ended while the page was open. */
export const hasEnded = signal(false);

onSignedOut(() => {
  hasEnded.value = Boolean(session.value);
  session.value = null;
});

export const loadSession = async (): Promise<void> => {
  try {
    sessionProblem.value = null;
    session.value = await call<SessionResponse>('GET', '/api/session');
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) session.value = null;
    else sessionProblem.value = describeError(error);
  }
};

export const signOut = async (): Promise<void> => {
  await call('DELETE', '/api/session');
  session.value = null;
};

/** Returns the session. Call only if signed in. */
export const signedIn = (): SessionResponse => session.value!;

/** Returns whether the operator has at least this role. The server enforces roles. */
export const hasRole = (least: Role): boolean => includesRole(signedIn().operator.role, least);

/** Returns the name of a segment or campaign in an audience. */
export const audienceName: AudienceName = (kind, id) =>
  signedIn().workspace[`${kind}s`].find((each) => each.id === id)?.name ?? id;

export const placementName = (id: string): string =>
  signedIn().workspace.placements?.find((each) => each.id === id)?.name ?? id;
