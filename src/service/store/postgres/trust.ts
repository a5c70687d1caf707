/** Batches in a row that find every remembered user as remembered, until the next ones count on it. */
const TRUST_AFTER = 32;

/**
 * A replica that is alone with its users need not ask whether what it remembers of them is still so: it writes, and
 * the write itself is refused where it is not. One that shares them asks first, because a refused write is done twice.
 */
export const createTrust = () => {
  let agreed = 0;
  return {
    isGiven: () => agreed >= TRUST_AFTER,
    hear(isAsRemembered: boolean) {
      agreed = isAsRemembered ? agreed + 1 : 0;
    },
  };
};

export type Trust = ReturnType<typeof createTrust>;
