/**
 * The search for the event that makes a server refuse a whole request without naming it. `keys` go out next, `held`
 * wait; one of `suspects` was in a request that was refused.
 */
export interface Search<K> {
  keys: K[];
  held: K[];
  suspects: K[];
}

const halves = <K>(items: K[]): [K[], K[]] => {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
};

/**
 * The next request after `keys` (two or more) were refused: everything but one half of the suspects, so that each
 * request either delivers all it holds or halves the suspects. The last suspect goes alone, after the `trusted`.
 */
export const afterRefusal = <K>({ keys, held, suspects }: Search<K>): { next: Search<K>; trusted: K[] } => {
  const suspected = suspects.length > 0 ? suspects : keys;
  const trusted = [...keys, ...held].filter((key) => !suspected.includes(key));
  if (suspected.length === 1) return { next: { keys: suspected, held: [], suspects: suspected }, trusted };
  const [first, second] = halves(suspected);
  return { next: { keys: [...first, ...trusted], held: second, suspects: first }, trusted: [] };
};

/** The next request after `keys` were delivered while others were held: the culprit is among those. */
export const afterDelivery = <K>({ held }: Search<K>): Search<K> => {
  const [first, second] = halves(held);
  return { keys: first, held: second, suspects: first };
};
