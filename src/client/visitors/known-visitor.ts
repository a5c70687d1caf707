import type { Settings } from '../first/read-options.ts';
import { forgetLocal } from '../platform/forget-local.ts';

/** The visitor of this browser profile, as far as the first paint can tell: in localStorage, which answers before it. */
export const createKnownVisitor = ({ visitors, appId, endpoint }: Settings) => {
  const storageKey = `placard-visitor:${appId}@${endpoint}`;
  return {
    storageKey,
    forget: () => forgetLocal(storageKey),
    id(): string | null {
      try {
        const kept = visitors ? localStorage.getItem(storageKey) : null;
        // With a user behind it the visitor is that user's by now.
        return kept?.includes(' ') ? null : kept;
      } catch {
        // Blocked storage knows no visitor.
        return null;
      }
    },
  };
};

export type KnownVisitor = ReturnType<typeof createKnownVisitor>;
