import type { Choice } from './header.ts';

const STORED_AS = 'fern-and-kiln:visitor';

/** Selected visitor and user ID. */
export interface Session {
  choice: Choice;
  userId: string | null;
}

const newcomer = () => `visitor-${crypto.randomUUID().slice(0, 8)}`;

/** Starts a session. `new` creates a new user each time. */
export const beginSession = (choice: Choice): Session => {
  const session = { choice, userId: choice === 'new' ? newcomer() : choice || null };
  try {
    localStorage.setItem(STORED_AS, JSON.stringify(session));
  } catch {
    // If storage is blocked, the choice lasts until page exit.
  }
  return session;
};

export const currentSession = (): Session => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? 'null');
    if (stored && typeof stored === 'object' && 'choice' in stored && 'userId' in stored) {
      return stored as Session;
    }
  } catch {
    // If storage is blocked or invalid, uses the default.
  }
  return beginSession('mira');
};
