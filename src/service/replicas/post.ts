import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Replica } from '../store/store.ts';
import { InDoubtError } from '../store/write-errors.ts';
import { HAND_OVER_PATH, type Outcome, REFUSED } from './outcome.ts';

/** Longer than this nobody waits for a connection, nor for an answer, however it trickles. */
const CONNECT_MS = 2_000;
const ANSWER_MS = 30_000;
/** An answer names the works that failed; what is longer comes from another program on that port. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Shorter than servers keep a connection open that nobody uses: one that closes takes with it what is just being sent. */
const IDLE_MS = 30_000;

/** Nothing of the work has been done there: it can be done here. */
export class NotTakenError extends Error {
  override name = 'NotTakenError';
}

const textOf = async (answer: IncomingMessage): Promise<string> => {
  let length = 0;
  answer.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) answer.destroy(new Error('Another replica answers without an end'));
  });
  return text(answer);
};

const outcomeOf = async (answer: IncomingMessage): Promise<Outcome> => {
  const body = await textOf(answer);
  const { statusCode = 0 } = answer;
  if (statusCode === 200) {
    const outcome = JSON.parse(body) as Outcome;
    if (Array.isArray(outcome.failed)) return outcome;
  }
  // It refuses before it begins. Any other failure may be that of a proxy, which does not know either.
  const isRefusal = (statusCode >= 400 && statusCode < 500) || body === REFUSED;
  const message = `Another replica answered ${statusCode}`;
  throw isRefusal ? new NotTakenError(message) : new Error(message);
};

/** Tells of a connection that takes too long, and answers whether there has been one: before it, nothing is sent. */
const watchConnection = (sent: ClientRequest): (() => boolean) => {
  let isConnected = false;
  sent.once('socket', (socket) => {
    if (!socket.connecting) {
      // One that was kept open may have been closed at the other end: then nothing can be written to it.
      isConnected = socket.writable;
      return;
    }
    const late = setTimeout(
      () => sent.destroy(new Error(`No connection within ${CONNECT_MS} ms`)),
      CONNECT_MS,
    );
    sent.once('close', () => clearTimeout(late));
    socket.once('connect', () => {
      isConnected = true;
      clearTimeout(late);
    });
  });
  return () => isConnected;
};

/** Posts to another replica over connections that stay open. */
export const createPost = ({ url, token }: Replica, answerMs = ANSWER_MS) => {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  const post = (body: string): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      let isConnected = () => false;
      const fail = (cause: unknown) => {
        if (cause instanceof NotTakenError) reject(cause);
        else if (!isConnected()) reject(new NotTakenError('Another replica cannot be reached', { cause }));
        else {
          reject(new InDoubtError('Another replica did not answer: what it stored is not known', { cause }));
        }
      };
      try {
        const sent = request(url + HAND_OVER_PATH, {
          agent,
          method: 'POST',
          headers: {
            Authorization: `Bearer ${token}`,
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(body),
          },
        });
        isConnected = watchConnection(sent);
        const late = setTimeout(() => sent.destroy(new Error(`No answer within ${answerMs} ms`)), answerMs);
        sent.on('error', fail);
        let isAnswered = false;
        sent.once('response', (answer) => {
          isAnswered = true;
          outcomeOf(answer).then(resolve, fail);
        });
        sent.once('close', () => {
          clearTimeout(late);
          // As where the other wants to go on in another protocol: that is neither an answer nor an error.
          if (!isAnswered) fail(new Error('The connection was closed'));
        });
        sent.end(body);
      } catch (error) {
        // Its URL is none that can be asked.
        fail(error);
      }
    });
  return { post, close: () => agent.destroy() };
};
