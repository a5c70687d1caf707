import { getOwn } from './own.ts';

type Members = Record<string, unknown>;
type Places = Set<number>;

/** Where in a list the objects are whose member `key`, one of `keys`, is a certain text, number or boolean. */
export const indexObjects = (objects: readonly Members[], keys: ReadonlySet<string>) => {
  const byKey = new Map<string, Map<unknown, Places>>([...keys].map((key) => [key, new Map()]));

  const enter = (place: number, object: Members, unlessIn: Members) => {
    for (const key of Object.keys(object)) {
      const byValue = byKey.get(key);
      const value = getOwn(object, key);
      if (!byValue || getOwn(unlessIn, key) === value) continue;
      const places = byValue.get(value);
      if (places) places.add(place);
      else byValue.set(value, new Set([place]));
    }
  };
  if (keys.size > 0) for (const [place, object] of objects.entries()) enter(place, object, {});

  return {
    placesOf: (key: string, value: unknown): Places => byKey.get(key)?.get(value) ?? new Set(),

    /** Another object has come to a place. */
    move(place: number, before: Members, after: Members) {
      for (const key of Object.keys(before)) {
        const value = getOwn(before, key);
        if (getOwn(after, key) !== value) byKey.get(key)?.get(value)?.delete(place);
      }
      enter(place, after, before);
    },
  };
};
