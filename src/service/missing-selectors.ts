import { DAY_MS } from '../protocol/index.ts';
import type { Placement } from './workspace/workspace.ts';

/** Time without a report after which a selector is assumed to match again, in milliseconds. */
const FORGOTTEN_MS = DAY_MS;

/** Placement whose selector matches nothing, as reported by its pages. */
export interface MissingSelector {
  /** Number of reports since then, from all users. */
  reports: number;
  sinceMs: number;
  lastMs: number;
}

/** Keeps reports of missing selectors in memory only, because pages report again within minutes. */
export const createMissingSelectors = () => {
  const reported = new Map<string, MissingSelector>();
  /** A new selector or new paths of a placement reset the count. */
  const toSelectorKey = (workspaceId: string, { placementId, insertionPoint }: Placement) =>
    JSON.stringify([workspaceId, placementId, insertionPoint]);
  const find = (workspaceId: string, placement: Placement, nowMs: number): MissingSelector | null => {
    const found = reported.get(toSelectorKey(workspaceId, placement));
    return found && nowMs - found.lastMs < FORGOTTEN_MS ? found : null;
  };

  return {
    /** Returns the reports of a selector; `null` if no page has reported it for a day. */
    of: find,
    /** Records a report. Call it only for placements of the workspace file, because pages can send any others. */
    add(workspaceId: string, placement: Placement, nowMs: number): void {
      const { reports, sinceMs } = find(workspaceId, placement, nowMs) ?? { reports: 0, sinceMs: nowMs };
      reported.set(toSelectorKey(workspaceId, placement), { reports: reports + 1, sinceMs, lastMs: nowMs });
    },
  };
};

export type MissingSelectors = ReturnType<typeof createMissingSelectors>;
