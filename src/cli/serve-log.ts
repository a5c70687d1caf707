import { type Logger, pino } from 'pino';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

type Line = Record<string, unknown> & { level: string; time: string; msg: string };

const isPlain = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'boolean' || /^[\w.:/@+-]+$/.test(String(value));
const shown = (value: unknown): string => (isPlain(value) ? String(value) : JSON.stringify(value));

/** Formats a log record for a terminal: time of day, level, message and fields. */
export const formatLine = (json: string, formatTime: (time: string) => string): string => {
  const { level, time, msg, at, ...fields }: Line = JSON.parse(json);
  const texts = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`);
  const stack = Array.isArray(at) ? at.map((frame) => `\n    ${frame}`).join('') : '';
  return `${[formatTime(time), level.toUpperCase().padEnd(5), msg, ...texts].join(' ')}${stack}\n`;
};

const localTime = (time: string): string => new Date(time).toLocaleTimeString('en-GB');

/** Creates the log of `placard serve`: JSON on stdout, or formatted lines on a terminal. Throws if `LOG_LEVEL` is invalid. */
export const createServeLog = (level: string): Logger => {
  if (!LEVELS.includes(level))
    throw new Error(`LOG_LEVEL must be one of ${LEVELS.join(', ')}, got "${level}"`);
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const { stdout } = process;
  if (!stdout.isTTY) return pino(options);
  return pino(options, { write: (json: string) => void stdout.write(formatLine(json, localTime)) });
};
