/**
 * Names of attributes and properties come from the wire, so `__proto__` and `constructor` are ordinary names here:
 * they are read and written as own members, never through the prototype.
 */
export const getOwn = <T>(record: Record<string, T>, name: string): T | undefined => {
  const value = record[name];
  // What a record of JSON inherits is functions, but for `__proto__`; asking it every time would cost as much again.
  if (typeof value !== 'function' && name !== '__proto__') return value;
  return Object.hasOwn(record, name) ? value : undefined;
};

export const setOwn = <T>(record: Record<string, T>, name: string, value: T): void => {
  if (name === '__proto__') {
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  } else record[name] = value;
};
