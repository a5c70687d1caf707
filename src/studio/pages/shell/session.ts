import { signal } from '@preact/signals';
import type { Role } from '../../../service/index.ts';
import type { AudienceName } from '../../campaign/conditions/condition-kind.ts';
import type { SessionResponse } from '../../server/routes/access.ts';
import { ApiError, call, describeError, onSignedOut } from '../call.ts';

/** Who is signed in: `undefined` while that is not known, `null` for nobody. */
export const session = signal<SessionResponse | null | undefined>(undefined);
/** Why that cannot be known. */
export const sessionProblem = signal<string | null>(null);

/** Whether somebody was signed in until the server said that it is over. */
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

/** The workspace and operator; only drawn where somebody is signed in. */
export const signedIn = (): SessionResponse => session.value!;

const ROLES: readonly Role[] = ['view', 'edit', 'publish', 'admin'];

/** Whether the operator's role is at least this one. The server checks it again. */
export const hasRole = (least: Role): boolean =>
  ROLES.indexOf(signedIn().operator.role) >= ROLES.indexOf(least);

/** Returns what the workspace calls a segment or campaign of an audience. */
export const audienceName: AudienceName = (kind, id) =>
  signedIn().workspace[`${kind}s`].find((each) => each.id === id)?.name ?? id;

export const placementName = (id: string): string =>
  signedIn().workspace.placements?.find((each) => each.id === id)?.name ?? id;
