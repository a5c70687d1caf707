/** Of the tables of both databases. The first that is published: there is nothing to bring forward. */
export const SCHEMA_VERSION = 1;

/** Throws where a database has tables of another version; `null` where it has none of Placard's. */
export const checkVersion = (version: number | null, database: string): void => {
  if (version === null) throw new Error(`${database} holds no Placard data`);
  if (version !== SCHEMA_VERSION) {
    throw new Error(
      `${database} has schema version ${version}, this Placard knows version ${SCHEMA_VERSION}: use a newer Placard or another database`,
    );
  }
};
