import { expect, test } from 'vitest';
import { asLibpq } from '../../../src/service/store/postgres/as-libpq.ts';

test.each([
  ['postgres://h/db', undefined, 'postgres://h/db'],
  ['postgres://h/db?sslmode=require', undefined, 'postgres://h/db?sslmode=require&uselibpqcompat=true'],
  [
    'postgres://h/db?a=b&sslmode=verify-ca',
    undefined,
    'postgres://h/db?a=b&sslmode=verify-ca&uselibpqcompat=true',
  ],
  ['postgres://h/db?sslmode=verify-full', 'require', 'postgres://h/db?sslmode=verify-full'],
  ['postgres://h/db?sslmode=disable', 'require', 'postgres://h/db?sslmode=disable'],
  ['postgres://h/db', 'require', 'postgres://h/db?sslmode=require&uselibpqcompat=true'],
  ['postgres://h/db?a=b', 'verify-ca', 'postgres://h/db?a=b&sslmode=verify-ca&uselibpqcompat=true'],
  ['postgres://h/db', 'disable', 'postgres://h/db'],
])('%s with PGSSLMODE=%s', (url, mode, expected) => {
  expect(asLibpq(url, mode)).toBe(expected);
});
