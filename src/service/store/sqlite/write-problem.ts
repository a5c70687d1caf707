/**
 * Why a group was not stored, as it crosses from the writer's thread; `null` crosses where it was. A cloned error keeps
 * nothing but its message, and the log would not know a full disk from a broken one.
 */
export interface WriteProblem {
  message: string;
  code?: string;
  errcode?: number;
  errstr?: string;
}

export const writeProblemOf = (error: unknown): WriteProblem => {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, code, errcode, errstr } = error as Error & WriteProblem;
  return { message, ...(code !== undefined && { code, errcode, errstr }) } as WriteProblem;
};

export const writeErrorOf = ({ message, ...facts }: WriteProblem): Error =>
  Object.assign(new Error(`The database refused a write: ${message}`), facts);

/** SQLite's codes for a value that a column does not take. */
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;
const SQLITE_TOOBIG = 18;

/** True where it was refused for what is in it. */
export const isRefusal = (error: unknown): boolean => {
  const { errcode } = error as { errcode?: number };
  // The lowest byte is the kind, the others say more.
  return (
    errcode !== undefined && [SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG].includes(errcode & 0xff)
  );
};
