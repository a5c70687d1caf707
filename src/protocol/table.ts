/** Returns the keys of an object whose type has exactly these keys, such as a constant table. */
export const getKeys = <Table extends object>(table: Table): (keyof Table & string)[] =>
  Object.keys(table) as (keyof Table & string)[];

/** Returns an object with exactly these keys. */
const fromKeys = <Table extends object>(
  keys: readonly (keyof Table & string)[],
  toValue: <Key extends keyof Table & string>(key: Key, index: number) => Table[Key],
): Table => Object.fromEntries(keys.map((key, index) => [key, toValue(key, index)])) as Table;

/** Returns an object with a value for each key. */
export const mapKeys = <Key extends string, Value>(
  keys: readonly Key[],
  toValue: (key: Key, index: number) => Value,
): Record<Key, Value> => fromKeys(keys, toValue);

/** Returns an object with some properties of another. */
export const pickKeys = <Table extends object, Key extends keyof Table & string>(
  table: Table,
  keys: readonly Key[],
): Pick<Table, Key> => fromKeys<Pick<Table, Key>>(keys, (key) => table[key]);
