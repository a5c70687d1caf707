import type { Session, UserRecord } from './user-record.ts';

interface Budget {
  refreshesLeft: number;
  refreshesLeftAtMs: number;
}

interface BudgetRule {
  refreshCapacity: number;
  refreshIntervalMs: number;
}

/** Refills the token bucket: one token for each interval that has passed, up to the capacity. */
export const refill = (
  budget: Budget,
  { refreshCapacity, refreshIntervalMs }: BudgetRule,
  nowMs: number,
): Budget => {
  // If the clock was set back, counting starts from now.
  const granted = Math.max(0, Math.floor((nowMs - budget.refreshesLeftAtMs) / refreshIntervalMs));
  const refreshesLeft = Math.min(refreshCapacity, budget.refreshesLeft + granted);
  const isFull = refreshesLeft === refreshCapacity || nowMs < budget.refreshesLeftAtMs;
  return {
    refreshesLeft,
    refreshesLeftAtMs: isFull ? nowMs : budget.refreshesLeftAtMs + granted * refreshIntervalMs,
  };
};

interface RefreshBudgetOptions {
  rule: BudgetRule;
  now: () => number;
  /** Changes the current session. */
  change: <T>(use: (session: Session, record: UserRecord) => T) => Promise<T | undefined>;
}

/** Creates the refresh budget, which all tabs of a session share. */
export const createRefreshBudget = ({ rule, now, change }: RefreshBudgetOptions) => ({
  /** Takes one refresh from the budget if the record needs one. Resolves with `false` if the budget is empty. */
  async spend(isNeeded: (record: UserRecord) => boolean = () => true): Promise<boolean> {
    const isGranted = await change((session, record) => {
      Object.assign(session, refill(session, rule, now()));
      if (session.refreshesLeft < 1 || !isNeeded(record)) return false;
      session.refreshesLeft -= 1;
      return true;
    });
    return isGranted === true;
  },
  /** Empties the budget after a rate-limit response. The budget refills from now on. */
  spendAll: () => change((session) => Object.assign(session, { refreshesLeft: 0, refreshesLeftAtMs: now() })),
});

export type RefreshBudget = ReturnType<typeof createRefreshBudget>;
