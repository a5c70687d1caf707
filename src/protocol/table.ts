/** Returns the keys of an object whose type has exactly these keys, such as a constant table. */
export const getKeys = <Table extends object>(table: Table): (keyof Table & string)[] =>
  Object.keys(table) as (keyof Table & string)[];

/** Returns an object with a value for each key. */
export const mapKeys = <Key extends string, Value>(
  keys: readonly Key[],
  toValue: (key: Key, index: number) => Value,
): Record<Key, Value> =>
  Object.fromEntries(keys.map((key, index) => [key, toValue(key, index)])) as Record<Key, Value>;
