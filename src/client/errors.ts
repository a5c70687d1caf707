/** An option is missing or wrong: a mistake in the code, not in the data. */
export const configError = (option: string, expected: string): TypeError =>
  new TypeError(`Option "${option}" must be ${expected}`);
