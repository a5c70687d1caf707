/** Structured log lines, as pino writes them. No line holds a key, an e-mail, a phone or an external ID. */
export interface Log {
  /** For developers: each request. */
  debug(facts: Record<string, unknown>, message: string): void;
  /** What happened: started, reloaded, stopped. */
  info(facts: Record<string, unknown>, message: string): void;
  /** What somebody should look at. */
  warn(facts: Record<string, unknown>, message: string): void;
  /** What went wrong. */
  error(facts: Record<string, unknown>, message: string): void;
}

const nothing = () => undefined;
/** Writes nothing. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** What may be logged of an error: its message can quote a user's data, so only its kind and where it came from. */
export const errorFacts = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  // `errstr` is SQLite's own sentence for the kind of failure, such as "database or disk is full": it quotes nothing.
  const { code, errcode, errstr } = error as NodeJS.ErrnoException & { errcode?: unknown; errstr?: unknown };
  return {
    error: error.name,
    ...(typeof code === 'string' && { code }),
    ...(code === 'ERR_SQLITE_ERROR' && { errcode, errstr }),
    at: frames.slice(0, 8).map((line) => line.trim()),
    ...(error.cause instanceof Error && { cause: errorFacts(error.cause) }),
  };
};
