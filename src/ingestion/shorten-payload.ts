import { truncate } from '../protocol/index.ts';

/** Maximum characters of a rejected row, because the Studio shows a hundred per page. */
const MAX_CHARACTERS = 20_000;

/** Truncates a text that is too long to store. */
export const shortenPayload = (payload: string): string => truncate(payload, MAX_CHARACTERS);
