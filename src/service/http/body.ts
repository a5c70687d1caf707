import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import { gunzip } from 'node:zlib';
import type * as z from 'zod';
import { ERROR_MESSAGES } from '../../protocol/index.ts';
import { readBody } from '../../protocol/schemas/index.ts';
import { getErrorCode } from '../log.ts';
import { HttpError, type HttpRequest, serviceUnavailable } from './http-request.ts';

/**
 * Maximum memory for the bodies of one endpoint, in bytes. While a disk or database stalls, requests and their retries
 * accumulate. Each takes about nine times the size of its body.
 */
export const MAX_BYTES = Math.floor(getHeapStatistics().heap_size_limit / 32);
/** Memory of a request without a body, in bytes. */
const MIN_BYTES = 4 * 1024;

/** Memory reserved for one request. */
export interface Reservation {
  /** Adds bytes. Throws a 503 if the other requests exceed the budget. */
  reserve(bytes: number): void;
  /** Releases the bytes. Call it once the response is ready. */
  release(): void;
}

export const createBodyMemoryBudget = (maxBytes = MAX_BYTES) => {
  let all = 0;

  return (): Reservation => {
    let own = 0;
    return {
      reserve(bytes) {
        if (all - own > maxBytes) throw serviceUnavailable('Too many requests are waiting');
        const more = own === 0 ? MIN_BYTES + bytes : bytes;
        own += more;
        all += more;
      },
      release() {
        all -= own;
        own = 0;
      },
    };
  };
};

/** Two, because one may wait for the database while the other is validated. */
const MAX_CONCURRENT_LARGE_BODIES = 2;

/** Slot of the semaphore for large bodies. Most requests never acquire it. */
interface Permit {
  /** Resolves once a slot is free. Call it at most once. */
  acquire(): Promise<void>;
  /** Frees the slot, if one was acquired. */
  release(): void;
}

/**
 * Limits the number of large bodies processed concurrently, first in, first out. Validation yields to other requests, so without
 * a limit the objects parsed from all bodies would be in memory at once, at hundreds of times the bytes sent.
 */
export const createBodySemaphore = (maxConcurrent = MAX_CONCURRENT_LARGE_BODIES) => {
  let free = maxConcurrent;
  const waiting: (() => void)[] = [];

  return (): Permit => {
    let isAcquired = false;
    return {
      acquire: () =>
        new Promise((resolve) => {
          const begin = () => {
            isAcquired = true;
            resolve();
          };
          if (free === 0) waiting.push(begin);
          else {
            free -= 1;
            begin();
          }
        }),
      release: () => {
        if (!isAcquired) return;
        isAcquired = false;
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      },
    };
  };
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const ARRAY = 0x5b;
const OBJECT = 0x7b;

/**
 * Returns whether a JSON text has more than `max` values, counted by the comma or bracket before each. Parsing time and memory
 * depend on the number of values, not of bytes: 4 MB of brackets take twenty times as long as one string of 4 MB. Nesting depth
 * makes no difference.
 */
export const hasMoreValues = (json: Uint8Array, max: number): boolean => {
  let values = 0;
  let inText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (inText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (byte === COMMA || byte === ARRAY || byte === OBJECT) {
      values += 1;
      if (values > max) return true;
    }
  }
  return false;
};

const inflate = promisify(gunzip);

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
/** Memory of a body during processing, relative to its memory while waiting. */
const PROCESSING_MEMORY_FACTOR = 8;
const BYTE_ORDER_MARK = '\uFEFF';
const REPLACEMENT = '\uFFFD';
const MAX_SHOWN_CHARACTERS = 100;
const PLAIN = ['', 'identity'];
const ZIPPED = ['gzip', 'x-gzip'];

/** Limits of a body. */
export interface BodyBounds {
  maxBytes: number;
  /** Maximum JSON values of a large body. A body with more is rejected before parsing. */
  maxValues: number;
  /** Size in bytes above which a body waits for a slot of the semaphore. */
  largeBytes: number;
  tooLarge: { status: number; message: string };
  unsupported: { status: number; message: string };
}

const toBodyError = ({ status, message }: BodyBounds['tooLarge']) => new HttpError(status, message);
/** Reports the expected type in `errors`, because the contract fixes `message`. Banner endpoints have only `message`. */
const unsupported = (
  { status, message }: BodyBounds['unsupported'],
  header: string,
  expected: string,
  sent: string,
) => {
  const got = sent === '' ? 'none' : JSON.stringify(sent.slice(0, MAX_SHOWN_CHARACTERS));
  const text = `${message}: expected ${header} ${expected}, got ${got}`;
  return status === 415
    ? new HttpError(status, message, { members: { errors: [{ type: text }] } })
    : // The log must not contain client input.
      new HttpError(status, text, { reason: message });
};
/** Returns a 400 with the text also in `error`, where the general REST documentation has it. */
const unparseable = () =>
  new HttpError(400, ERROR_MESSAGES.unparseable, { members: { error: ERROR_MESSAGES.unparseable } });

/** Decompresses the bytes. Returns `null` if the result exceeds `maxBytes`. */
const decompress = async (bytes: Uint8Array, maxBytes: number): Promise<Uint8Array | null> => {
  try {
    return await inflate(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (getErrorCode(error) === 'ERR_BUFFER_TOO_LARGE') return null;
    throw unparseable();
  }
};

/** Returns the decoded bytes. A large body waits for its slot before decoding; a small gzipped body is decompressed at once. */
const decodeBody = async (
  sent: Uint8Array,
  isPlain: boolean,
  { maxBytes, maxValues, largeBytes, tooLarge }: BodyBounds,
  permit: Permit,
): Promise<Uint8Array> => {
  if (!isPlain && sent.byteLength <= largeBytes) {
    const small = await decompress(sent, Math.min(largeBytes, maxBytes));
    if (small) return small;
  }
  await permit.acquire();
  const bytes = isPlain ? sent : await decompress(sent, maxBytes);
  if (!bytes) throw toBodyError(tooLarge);
  if (hasMoreValues(bytes, maxValues)) {
    throw new HttpError(400, `Request body holds more than ${maxValues} values`);
  }
  return bytes;
};

/** Decodes UTF-8. Invalid bytes become U+FFFD, which a valid body may also contain, so its bytes are checked only then. */
const toText = (bytes: Uint8Array): string => {
  const buffer =
    bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) throw unparseable();
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
};

/**
 * Reads a body as JSON. Checks content type, encoding, size, number of values (of large bodies) and syntax, in this
 * order. Accepts only JSON,
 * because forms of other sites cannot send it. The caller releases `permit` and `reservation`, also after an error.
 */
export const readJson = async (
  request: HttpRequest,
  bounds: BodyBounds,
  permit: Permit,
  reservation: Reservation,
): Promise<unknown> => {
  const type = request.header('content-type') ?? '';
  if (!JSON_TYPE.test(type)) throw unsupported(bounds.unsupported, 'Content-Type', 'application/json', type);
  const encoding = (request.header('content-encoding') ?? '').trim().toLowerCase();
  const isPlain = PLAIN.includes(encoding);
  if (!isPlain && !ZIPPED.includes(encoding))
    throw unsupported(bounds.unsupported, 'Content-Encoding', 'gzip or identity', encoding);
  const sent = await request.body(bounds.maxBytes);
  if (sent === null) throw toBodyError(bounds.tooLarge);
  const isSmall = isPlain && sent.byteLength <= bounds.largeBytes;
  reservation.reserve(isSmall ? sent.byteLength : sent.byteLength / PROCESSING_MEMORY_FACTOR);
  const bytes = isSmall ? sent : await decodeBody(sent, isPlain, bounds, permit);
  if (!isSmall) reservation.reserve(bytes.byteLength);
  const text = toText(bytes);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the body, which is user data.
    throw unparseable();
  }
};

/** Parses the JSON of a body into the handler's input. */
export interface BodyReader<Body> {
  /** Schema for the API description. */
  schema: z.core.$ZodType;
  /** Throws an `HttpError` that names the problem. */
  read(sent: unknown): Body;
}

/** Body of an endpoint. */
export interface RequestBody<Body> extends BodyReader<Body> {
  bounds: BodyBounds;
}

/**
 * Creates a reader from a schema. The message of its first issue becomes the message of the 400. If entries are checked one by
 * one, `described` is the schema of a fully valid body.
 */
export const schemaReader = <Body extends object>(
  schema: z.core.$ZodType<Body>,
  described: z.core.$ZodType = schema,
): BodyReader<Body> => ({
  schema: described,
  read: (sent) => {
    const body = readBody(schema, sent);
    if (typeof body === 'string') throw new HttpError(400, body);
    return body;
  },
});
