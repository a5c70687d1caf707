import { COUNT_FIELDS } from './banners-track.ts';
import { mapKeys } from './table.ts';

/** All result fields of banner events, with the value 0. */
export const NO_COUNTS = /* @__PURE__ */ mapKeys(
  /* @__PURE__ */ Object.values(COUNT_FIELDS).flatMap(({ events, users }) => [events, users]),
  () => 0,
);
