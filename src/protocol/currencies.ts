/** Codes of ISO 4217 that the engine's list lacks: funds, units of account, metals, and a few it has not learnt yet. */
const OTHER_CURRENCIES =
  'BOV CHE CHW CLF COU MXV USN UYI UYW VED XAG XAU XBA XBB XBC XBD XCG XDR XPD XPT XSU XTS XUA XXX ZWG';

let known: ReadonlySet<string> | undefined;

/** Whether a code in capitals is one of ISO 4217. */
export const isCurrency = (code: string): boolean => {
  known ??= new Set([...Intl.supportedValuesOf('currency'), ...OTHER_CURRENCIES.split(' ')]);
  return known.has(code);
};
