/** More objects than a line has. */
const STEP = 2 ** 20;

/** A number for an object of a line: larger than those of the objects before it. The last of its line is known by it. */
export const objectIndex = (line: number, place: number, isLast: boolean): number =>
  line * STEP + (isLast ? STEP - 1 : Math.min(place, STEP - 2));

export const lineOf = (index: number): number => Math.floor(index / STEP);

/** How somebody finds the object: by its line, where it is the last of that, else by its number there, from 1 on. */
export const placeName = (index: number): string => {
  const place = index % STEP;
  return place === STEP - 1 ? `line ${lineOf(index)}` : `object ${place + 1} of line ${lineOf(index)}`;
};
