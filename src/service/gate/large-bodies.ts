/** Two: one may wait for the database while the other is judged. */
const AT_ONCE = 2;

/** A request's turn; most never need one. */
export interface Turn {
  /** Resolves when it is this request's turn. Called once at most. */
  enter(): Promise<void>;
  /** Gives the turn back; nothing where there is none. */
  leave(): void;
}

/**
 * Lets few requests with large bodies be in work at once, first come first served. Routes give way to one another while
 * they judge, so without it all that come at once would hold everything made of their bodies at once: hundreds of
 * times what was sent.
 */
export const createLargeBodies = (atOnce = AT_ONCE) => {
  let free = atOnce;
  const waiting: (() => void)[] = [];

  return (): Turn => {
    let isIn = false;
    return {
      enter: () =>
        new Promise((resolve) => {
          const begin = () => {
            isIn = true;
            resolve();
          };
          if (free === 0) waiting.push(begin);
          else {
            free -= 1;
            begin();
          }
        }),
      leave: () => {
        if (!isIn) return;
        isIn = false;
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      },
    };
  };
};
