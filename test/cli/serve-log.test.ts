import { expect, test } from 'vitest';
import { formatLine } from '../../src/cli/serve-log.ts';

test('prints the time, level, message and fields of a log line on a terminal', () => {
  const facts = { url: 'http://127.0.0.1:8787', problem: 'a port', count: 2, gone: ['a', 'b'] };
  const line = { level: 'warn', time: '2026-03-01T09:15:00.250Z', ...facts, msg: 'said' };
  const at = ['at run (a.js:1:1)', 'at b.js:2:2'];
  const getTime = (time: string) => time.slice(11, 19);
  expect(formatLine(JSON.stringify(line), getTime)).toBe(
    '09:15:00 WARN  said url=http://127.0.0.1:8787 problem="a port" count=2 gone=["a","b"]\n',
  );
  expect(formatLine(JSON.stringify({ ...line, ...facts, at, level: 'error' }), getTime)).toMatch(
    /^09:15:00 ERROR said .*\n {4}at run \(a\.js:1:1\)\n {4}at b\.js:2:2\n$/,
  );
});
