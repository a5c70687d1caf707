import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { FATAL } from '../../protocol/index.ts';
import type { Route } from '../route.ts';
import type { Exchange } from './exchange.ts';
import { HttpError } from './http-error.ts';

const inflate = promisify(gunzip);

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const BYTE_ORDER_MARK = '\uFEFF';
const REPLACEMENT = '\uFFFD';
const PLAIN = ['', 'identity'];
const ZIPPED = ['gzip', 'x-gzip'];

/** The banner endpoints' tables have no 413 and no 415. */
const tooLarge = (route: Route) => new HttpError(route.tooLarge, FATAL.tooLarge);
const unsupported = (route: Route) =>
  new HttpError(route.errors === 'general' ? 415 : 400, FATAL.unsupportedMediaType);
/** The general REST documentation has this text in `error`; both readers find it. */
const unparseable = () => new HttpError(400, FATAL.unparseable, { members: { error: FATAL.unparseable } });

const inflated = async (bytes: Uint8Array, route: Route): Promise<Uint8Array> => {
  try {
    return await inflate(bytes, { maxOutputLength: route.maxBodyBytes });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(route) : unparseable();
  }
};

/** Not every sequence of bytes is a text: one that is none comes out with U+FFFD in it, where no one may have put it. */
const textOf = (bytes: Uint8Array): string => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) throw unparseable();
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
};

/** Reads the body of a POST as JSON: content type, encoding, size, syntax, in this order. */
export const readJson = async (exchange: Exchange, route: Route): Promise<unknown> => {
  if (!JSON_TYPE.test(exchange.header('content-type') ?? '')) throw unsupported(route);
  const encoding = (exchange.header('content-encoding') ?? '').trim().toLowerCase();
  const isPlain = PLAIN.includes(encoding);
  if (!isPlain && !ZIPPED.includes(encoding)) throw unsupported(route);
  const sent = await exchange.body(route.maxBodyBytes);
  if (sent === null) throw tooLarge(route);
  const text = textOf(isPlain ? sent : await inflated(sent, route));
  try {
    return JSON.parse(text);
  } catch {
    // Whatever the parser says quotes the body, which is the user's data.
    throw unparseable();
  }
};
