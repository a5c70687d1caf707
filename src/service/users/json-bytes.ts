/** How many bytes of UTF-8 the value's JSON has. */
export const jsonBytes = (value: unknown): number => {
  if (typeof value === 'number') return String(value).length;
  if (typeof value === 'boolean') return value ? 4 : 5;
  return Buffer.byteLength(JSON.stringify(value));
};
