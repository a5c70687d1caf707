/** Maximum characters of the used columns. Exceeds the limit of an object in an API request. */
export const MAX_ROW_CHARACTERS = 1_000_000;
export const ROW_TOO_LARGE = 'The row has more than 1,000,000 characters in the columns that are used';

/** Returns the approximate JSON length of a row. Approximate, because most rows of a file are skipped. */
export const countCharacters = (values: Readonly<Record<string, unknown>>): number => {
  let characters = 0;
  for (const value of Object.values(values)) {
    if (typeof value === 'string') characters += value.length;
    else if (typeof value === 'object' && value !== null) characters += JSON.stringify(value).length;
  }
  return characters;
};
