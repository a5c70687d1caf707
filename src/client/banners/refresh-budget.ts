interface Budget {
  tokens: number;
  tokensAtMs: number;
}

interface BudgetRule {
  refreshCapacity: number;
  refreshIntervalMs: number;
}

/** What the bucket holds now: one more token for each interval that has passed, never above its capacity. */
export const refill = (
  budget: Budget,
  { refreshCapacity, refreshIntervalMs }: BudgetRule,
  nowMs: number,
): Budget => {
  // A clock that was set back grants nothing until it has caught up, so start counting from now.
  const granted = Math.max(0, Math.floor((nowMs - budget.tokensAtMs) / refreshIntervalMs));
  const tokens = Math.min(refreshCapacity, budget.tokens + granted);
  const isFull = tokens === refreshCapacity || nowMs < budget.tokensAtMs;
  return { tokens, tokensAtMs: isFull ? nowMs : budget.tokensAtMs + granted * refreshIntervalMs };
};
