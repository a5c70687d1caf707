/** Of a rejected row: a page of the Studio shows a hundred of them. */
const MAX_CHARACTERS = 20_000;

/** Returns a text without its end if it is too long to keep. */
export const shortenPayload = (payload: string): string =>
  payload.length > MAX_CHARACTERS ? `${payload.slice(0, MAX_CHARACTERS).toWellFormed()}…` : payload;
