/** Structured log lines, as pino writes them. No line holds a key, an e-mail, a phone or an external ID. */
export interface Log {
  /** Each request, for developers. */
  debug(facts: Record<string, unknown>, message: string): void;
  /** Events of the process: started, reloaded, stopped. */
  info(facts: Record<string, unknown>, message: string): void;
  /** Something that an operator should look at. */
  warn(facts: Record<string, unknown>, message: string): void;
  /** A failure. */
  error(facts: Record<string, unknown>, message: string): void;
}

const nothing = () => undefined;
/** Writes nothing. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** The code of an error of Node or of a database, such as `ENOENT`. */
export const getErrorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** The sentence of an error. It may quote a user's data, so it must not be logged. */
export const getErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** What may be logged of an error: its kind and where it came from. Its message can quote a user's data. */
export const serializeError = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  // `errstr` is SQLite's own sentence for the kind of failure, such as "database or disk is full": it quotes nothing.
  const code = getErrorCode(error);
  return {
    error: error.name,
    ...(code !== undefined && { code }),
    ...(code === 'ERR_SQLITE_ERROR' && 'errcode' in error && { errcode: error.errcode }),
    ...(code === 'ERR_SQLITE_ERROR' && 'errstr' in error && { errstr: error.errstr }),
    at: frames.slice(0, 8).map((line) => line.trim()),
    ...(error.cause instanceof Error && { cause: serializeError(error.cause) }),
  };
};

const MINUTE_MS = 60_000;
/** Causes that are remembered at once. Requests can make up more: those are not logged. */
const MAX_CAUSES = 1_000;

/** Returns whether a cause may be logged now: once a minute for each, whatever a client sends and however often. */
export const createLogThrottle = () => {
  const loggedAtMs = new Map<string, number>();
  // Either way: a clock that was put back must not silence a cause for longer.
  const isRecent = (atMs: number, nowMs: number) => Math.abs(nowMs - atMs) < MINUTE_MS;

  return (cause: string, nowMs: number): boolean => {
    const last = loggedAtMs.get(cause);
    if (last !== undefined && isRecent(last, nowMs)) return false;
    if (loggedAtMs.size >= MAX_CAUSES) {
      for (const [other, atMs] of loggedAtMs) if (!isRecent(atMs, nowMs)) loggedAtMs.delete(other);
      if (loggedAtMs.size >= MAX_CAUSES) return false;
    }
    loggedAtMs.set(cause, nowMs);
    return true;
  };
};
