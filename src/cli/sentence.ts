/** Formats a number with its noun, such as `1 line` and `300,000 lines`. */
export const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`;

const FILE_PROBLEMS: Record<string, string> = {
  ENOENT: 'does not exist',
  EEXIST: 'already exists; name another file',
  EACCES: 'cannot be accessed: permission denied',
  EISDIR: 'is a folder',
  ENOTDIR: 'is inside a path that is not a folder',
};

interface SystemError extends Error {
  code?: string;
  path?: string;
  port?: number;
  address?: string;
}

/** Returns the innermost error code of a network or TLS failure. Omits SQLite's, which is the same for every failure. */
const causeCode = (error: Error): string | undefined => {
  let last = error;
  while (last.cause instanceof Error) last = last.cause;
  const { code }: SystemError = last;
  return last !== error && typeof code === 'string' && !code.startsWith('ERR_SQLITE') ? code : undefined;
};

/** Formats an error for users: one line, no stack trace. */
export const formatError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  // All addresses of a host failed. The first reason is enough.
  if (error instanceof AggregateError && error.errors.length > 0) return formatError(error.errors[0]);
  const { code, path, port, address, message }: SystemError = error;
  if (code === 'EADDRINUSE') return `port ${port} on ${address} is in use; choose another with --port`;
  const problem = code !== undefined && path !== undefined ? FILE_PROBLEMS[code] : undefined;
  const sentence = (problem ? `${path} ${problem}` : message).replaceAll(/\s*\n\s*/g, ' ');
  const why = causeCode(error);
  return why === undefined || sentence.includes(why) ? sentence : `${sentence} (${why})`;
};
