import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import { gunzip } from 'node:zlib';
import type * as z from 'zod';
import { FATAL } from '../../protocol/index.ts';
import { readBody } from '../../protocol/schemas/index.ts';
import { codeOf } from '../log.ts';
import { type Exchange, HttpError, notNow } from './exchange.ts';

/**
 * Bytes of bodies that the requests of one endpoint may hold together. While a disk or a database stands still they pile
 * up, and their senders ask again: each takes some nine times its body until it is answered.
 */
export const MAX_BYTES = Math.floor(getHeapStatistics().heap_size_limit / 32);
/** What a request without a body takes. */
const MIN_BYTES = 4 * 1024;

/** What one request holds. */
export interface Held {
  /** Counts bytes that this request holds. Throws where other requests hold too much: nothing of this one is done then. */
  hold(bytes: number): void;
  /** To be called once the request is answered. */
  leave(): void;
}

export const createHeldBodies = (maxBytes = MAX_BYTES) => {
  let all = 0;

  return (): Held => {
    let own = 0;
    return {
      hold(bytes) {
        if (all - own > maxBytes) throw notNow('Too many requests are waiting');
        const more = own === 0 ? MIN_BYTES + bytes : bytes;
        own += more;
        all += more;
      },
      leave() {
        all -= own;
        own = 0;
      },
    };
  };
};

/** Two: one may wait for the database while the other is judged. */
const AT_ONCE = 2;

/** A request's turn; most never need one. */
interface Turn {
  /** Resolves when it is this request's turn. Called once at most. */
  enter(): Promise<void>;
  /** Gives the turn back; nothing where there is none. */
  leave(): void;
}

/**
 * Lets few requests with large bodies be in work at once, first come first served. Routes give way to one another while
 * they judge, so without it all that come at once would hold everything made of their bodies at once: hundreds of
 * times what was sent.
 */
export const createLargeBodies = (atOnce = AT_ONCE) => {
  let free = atOnce;
  const waiting: (() => void)[] = [];

  return (): Turn => {
    let isIn = false;
    return {
      enter: () =>
        new Promise((resolve) => {
          const begin = () => {
            isIn = true;
            resolve();
          };
          if (free === 0) waiting.push(begin);
          else {
            free -= 1;
            begin();
          }
        }),
      leave: () => {
        if (!isIn) return;
        isIn = false;
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
 * Whether a JSON text holds more than `max` values, counted by what stands before each: a comma or a bracket. They, not
 * the bytes, are what a parser needs time and memory for: 4 MB of brackets take twenty times as long as one text of 4 MB.
 * How deep they nest makes no difference to it.
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
/** A body that waits for its turn takes an eighth of the memory that it takes in work. */
const AS_SENT = 8;
const BYTE_ORDER_MARK = '\uFEFF';
const REPLACEMENT = '\uFFFD';
const MAX_SHOWN_CHARACTERS = 100;
const PLAIN = ['', 'identity'];
const ZIPPED = ['gzip', 'x-gzip'];

/** What a body may be, and the answer where it is something else. */
export interface BodyBounds {
  maxBytes: number;
  /** Values that the JSON of a large body may hold: with more it is refused unparsed. */
  maxValues: number;
  /** A longer text waits until it is its turn. */
  largeBytes: number;
  tooLarge: { status: number; message: string };
  unsupported: { status: number; message: string };
}

const refuse = ({ status, message }: BodyBounds['tooLarge']) => new HttpError(status, message);
/** Names what was expected in `errors`, where a reader of the contract's fixed `message` looks next; a page's refusal has one text alone. */
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
    : // The log must not hold what a client wrote.
      new HttpError(status, text, { why: message });
};
/** The general REST documentation has this text in `error`; both readers find it. */
const unparseable = () => new HttpError(400, FATAL.unparseable, { members: { error: FATAL.unparseable } });

/** `null` where it is more than `maxBytes`. */
const inflated = async (bytes: Uint8Array, maxBytes: number): Promise<Uint8Array | null> => {
  try {
    return await inflate(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') return null;
    throw unparseable();
  }
};

/** The bytes of the JSON. A large body waits for its turn as it was sent. A small zipped one is inflated at once. */
const decoded = async (
  sent: Uint8Array,
  isPlain: boolean,
  { maxBytes, maxValues, largeBytes, tooLarge }: BodyBounds,
  turn: Turn,
): Promise<Uint8Array> => {
  if (!isPlain && sent.byteLength <= largeBytes) {
    const small = await inflated(sent, Math.min(largeBytes, maxBytes));
    if (small) return small;
  }
  await turn.enter();
  const bytes = isPlain ? sent : await inflated(sent, maxBytes);
  if (!bytes) throw refuse(tooLarge);
  if (hasMoreValues(bytes, maxValues)) {
    throw new HttpError(400, `Request body holds more than ${maxValues} values`);
  }
  return bytes;
};

/** Bytes that are no UTF-8 become U+FFFD. A body may have that character itself, so its bytes are checked then. */
const textOf = (bytes: Uint8Array): string => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) throw unparseable();
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
};

/**
 * Reads a body as JSON: content type, encoding, size, number of values, syntax, in this order. JSON alone: a form of another
 * site can send no such type. Of a large one it takes the turn, and `held` counts it: the caller gives both back once nothing is
 * left of the body, also where this throws.
 */
export const readJson = async (
  exchange: Exchange,
  bounds: BodyBounds,
  turn: Turn,
  held: Held,
): Promise<unknown> => {
  const type = exchange.header('content-type') ?? '';
  if (!JSON_TYPE.test(type)) throw unsupported(bounds.unsupported, 'Content-Type', 'application/json', type);
  const encoding = (exchange.header('content-encoding') ?? '').trim().toLowerCase();
  const isPlain = PLAIN.includes(encoding);
  if (!isPlain && !ZIPPED.includes(encoding))
    throw unsupported(bounds.unsupported, 'Content-Encoding', 'gzip or identity', encoding);
  const sent = await exchange.body(bounds.maxBytes);
  if (sent === null) throw refuse(bounds.tooLarge);
  const isSmall = isPlain && sent.byteLength <= bounds.largeBytes;
  held.hold(isSmall ? sent.byteLength : sent.byteLength / AS_SENT);
  const bytes = isSmall ? sent : await decoded(sent, isPlain, bounds, turn);
  if (!isSmall) held.hold(bytes.byteLength);
  const text = textOf(bytes);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, which is the user's data.
    throw unparseable();
  }
};

/** How the JSON of a body becomes what its endpoint gets. */
export interface BodyReader<Body> {
  /** What the description of the API shows. */
  schema: z.core.$ZodType;
  /** Throws an `HttpError` that names what is wrong. */
  read(sent: unknown): Body;
}

/** A body of an endpoint. */
export interface RequestBody<Body> extends BodyReader<Body> {
  bounds: BodyBounds;
}

/**
 * By a schema whose messages are the texts of a 400: of the first issue. It checks, describes and gives the type. Where each entry of
 * a body is judged alone, `described` is what a whole body should be.
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
