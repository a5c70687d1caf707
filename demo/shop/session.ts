import type { Choice } from './header.ts';

const STORED_AS = 'fern-and-kiln:visitor';

/** Who the page is seen as: the choice in the header, and the user ID that stands for it. */
export interface Session {
  choice: Choice;
  userId: string | null;
}

const newcomer = () => `visitor-${crypto.randomUUID().slice(0, 8)}`;

/** The session that a choice begins. Somebody new is somebody else each time. */
export const beginSession = (choice: Choice): Session => {
  const session = { choice, userId: choice === 'new' ? newcomer() : choice || null };
  try {
    localStorage.setItem(STORED_AS, JSON.stringify(session));
  } catch {
    // Storage is blocked: the choice lasts until the page is left.
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
    // Blocked or changed by hand: begin as anybody would.
  }
  return beginSession('mira');
};
