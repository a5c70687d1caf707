/** An event that the server named in `errors`. */
export interface Skipped {
  /** Position in the batch as it was sent. */
  index: number;
  reason: string;
}

/**
 * Judges each entry of `errors` alone: a position of the batch counts once, everything else is a problem to report
 * and touches no event.
 */
export const judgeErrors = (
  errors: unknown[],
  length: number,
): { skipped: Skipped[]; problems: string[] } => {
  const skipped = new Map<number, Skipped>();
  const problems: string[] = [];
  for (const error of errors) {
    const { index, type } = (typeof error === 'object' && error !== null ? error : {}) as {
      index?: unknown;
      type?: unknown;
    };
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= length) {
      problems.push(`errors names index ${JSON.stringify(index)} of a batch of ${length}`);
    } else if (skipped.has(index)) {
      problems.push(`errors names index ${index} twice`);
    } else {
      skipped.set(index, { index, reason: typeof type === 'string' ? type : 'no reason given' });
    }
  }
  return { skipped: [...skipped.values()].sort((a, b) => a.index - b.index), problems };
};
