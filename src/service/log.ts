import { MINUTE_MS } from '../protocol/index.ts';
/** Structured log in pino's format. Lines never contain keys, email addresses, phone numbers or external IDs. */
export interface Log {
  /** Logs each request, for developers. */
  debug(fields: Record<string, unknown>, message: string): void;
  /** Logs process events: started, reloaded, stopped. */
  info(fields: Record<string, unknown>, message: string): void;
  /** Logs a problem that needs an operator's attention. */
  warn(fields: Record<string, unknown>, message: string): void;
  /** Logs a failure. */
  error(fields: Record<string, unknown>, message: string): void;
}

const nothing = () => undefined;
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Returns the code of a Node or database error, such as `ENOENT`. */
export const getErrorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** Returns the message of an error. It may quote user data, so it must not be logged. */
export const getErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Returns the log fields of an error: its type and origin. Omits the message, which may quote user data. */
export const serializeError = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  // `errstr` is SQLite's description of the error code, such as "database or disk is full". It contains no user data.
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

/** Maximum causes remembered at once. Further causes are not logged, because requests can create any number. */
const MAX_CAUSES = 1_000;

/** Creates a function that returns whether a cause may be logged now: at most once a minute per cause. */
export const createLogThrottle = () => {
  const loggedAtMs = new Map<string, number>();
  // Absolute difference, because setting the clock back must not suppress a cause for longer.
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
