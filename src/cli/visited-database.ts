/** The database that a command reads. A variable that is set to nothing is not set; `missing` is the error without one. */
export const visitedDatabase = (option: string | undefined, missing: string): string => {
  if (option === '') throw new Error('--db needs a value');
  const variable = process.env['PLACARD_DB'];
  const db = option ?? variable;
  if (!db) throw new Error(variable === '' ? `${missing}; PLACARD_DB is empty` : missing);
  return db;
};
