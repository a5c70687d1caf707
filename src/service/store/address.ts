/** True for a database server's URL; anything else names a SQLite file. */
export const isPostgres = (address: string): boolean => /^postgres(ql)?:\/\//.test(address);

/** The path of a SQLite file. SQLite alone reads `file:` as a URL: the lock and the log beside it would be another file's. */
export const pathOf = (address: string): string => {
  if (address.startsWith('file:')) throw new Error('expected the path of a file, not a file: URL');
  return address;
};
