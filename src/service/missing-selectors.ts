import type { Placement } from './workspace/workspace.ts';

/** After so long without a report a selector is taken to find its element again. */
const FORGOTTEN_MS = 24 * 60 * 60_000;

/** Pages that a placement is for have reported that its selector finds nothing there. */
export interface MissingSelector {
  /** How many requests have said so since then, of all users. */
  reports: number;
  sinceMs: number;
  lastMs: number;
}

/** What pages have reported of selectors to this process. Nothing of it is stored: pages report again within minutes. */
export const createMissingSelectors = () => {
  const reported = new Map<string, MissingSelector>();
  /** A placement that was given another selector, or other paths, begins anew. */
  const keyOf = (workspaceId: string, { placementId, spot }: Placement) =>
    JSON.stringify([workspaceId, placementId, spot]);
  const of = (workspaceId: string, placement: Placement, nowMs: number): MissingSelector | null => {
    const found = reported.get(keyOf(workspaceId, placement));
    return found && nowMs - found.lastMs < FORGOTTEN_MS ? found : null;
  };

  return {
    /** `null` where no page has reported its selector for a day. */
    of,
    /** Of a placement that the workspace file has: a page can make up others. */
    add(workspaceId: string, placement: Placement, nowMs: number): void {
      const { reports, sinceMs } = of(workspaceId, placement, nowMs) ?? { reports: 0, sinceMs: nowMs };
      reported.set(keyOf(workspaceId, placement), { reports: reports + 1, sinceMs, lastMs: nowMs });
    },
  };
};

export type MissingSelectors = ReturnType<typeof createMissingSelectors>;
