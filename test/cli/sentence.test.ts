import { expect, test } from 'vitest';
import { formatError } from '../../src/cli/sentence.ts';
import { InDoubtError } from '../../src/server/index.ts';

const withCode = (message: string, code: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code });

test('includes the code of the cause of a network error', () => {
  const failed = new TypeError('fetch failed', { cause: withCode('connect', 'ECONNREFUSED') });
  const error = new Error('Request failed due to a network error: GET http://127.0.0.1/', { cause: failed });
  expect(formatError(error)).toBe(
    'Request failed due to a network error: GET http://127.0.0.1/ (ECONNREFUSED)',
  );
});

test('states that a failed read changed nothing', () => {
  const cause = new TypeError('fetch failed', { cause: withCode('tls', 'ERR_SSL_WRONG_VERSION_NUMBER') });
  expect(formatError(new InDoubtError('GET /cdi/integrations', cause))).toBe(
    'GET /cdi/integrations failed: no response arrived (ERR_SSL_WRONG_VERSION_NUMBER)',
  );
  expect(formatError(new InDoubtError('POST /users/track', cause))).toMatch(/^POST .* is in doubt:/);
});

test('does not repeat a code, and omits the generic code of SQLite', () => {
  expect(formatError(new Error('no way: EPERM', { cause: withCode('no way', 'EPERM') }))).toBe(
    'no way: EPERM',
  );
  expect(formatError(new Error('locked', { cause: withCode('busy', 'ERR_SQLITE_ERROR') }))).toBe('locked');
});
