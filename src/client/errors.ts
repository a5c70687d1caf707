/** An option of `createPlacard` is missing or wrong. Thrown at creation only: it is a mistake in the code, not in the data. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly option: string;

  constructor(option: string, expected: string) {
    super(`Option "${option}" must be ${expected}`);
    this.option = option;
  }
}
