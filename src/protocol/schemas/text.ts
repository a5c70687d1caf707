import * as z from 'zod/mini';

/** Text of a bounded length, as JSON Schema counts: in Unicode code points, where zod's own bounds count UTF-16 units. */
export const characters = (max: number, min = 1) =>
  z.string().check(z.meta({ minLength: min, maxLength: max }));

/** Text whose bound is in bytes of UTF-8: as many code points are the most it can have. */
export const bytes = (max: number, min = 1) =>
  z.string().check(z.meta({ minLength: min, maxLength: max, description: `At most ${max} bytes of UTF-8.` }));
