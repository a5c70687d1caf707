import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createRanges,
  openResumeFile,
  type Range,
  type ResumeFile,
} from '../../src/cli/track/resume-file.ts';
import fc from '../helpers/property.ts';

let folder: string;
let input: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'placard-resume-'));
  input = join(folder, 'input.ndjson');
  path = join(folder, 'progress');
  writeFileSync(input, '{"events":{}}\n'.repeat(10_000));
});
afterEach(() => rmSync(folder, { recursive: true }));

const api = 'http://127.0.0.1:8787';
const open = (more: Partial<Parameters<typeof openResumeFile>[1]> = {}) =>
  openResumeFile(path, { input, api, format: 'ndjson', ...more });
const run = (work: (file: ResumeFile) => void) => {
  const file = open();
  work(file);
  file.close();
};
const numbers = (holds: (number: number) => boolean, to = 20) =>
  Array.from({ length: to }, (_, number) => number).filter(holds);

describe('a resume file', () => {
  test('lists the requests that earlier runs completed or began', () => {
    run((file) => {
      expect(file.isResumed).toBe(false);
      file.begun([0, 2]);
      file.begun([3, 5]);
      file.settled([3, 5]);
      file.begun([6, 8]);
      file.notTaken([6, 8]);
    });
    run((file) => {
      expect(file.isResumed).toBe(true);
      expect(numbers(file.isSettled)).toEqual([3, 4, 5]);
      expect(numbers(file.isInDoubt)).toEqual([0, 1, 2]);
      file.settled([0, 0]);
      file.begun([1, 2]);
      file.settled([1, 2]);
    });
    run((file) => expect(numbers(file.isSettled)).toEqual([0, 1, 2, 3, 4, 5]));
  });

  test('treats a retried request as begun', () => {
    run((file) => {
      file.begun([0, 2]);
      file.notTaken([0, 2]);
      file.begun([0, 2]);
    });
    run((file) => expect(numbers(file.isInDoubt)).toEqual([0, 1, 2]));
  });

  test('keeps a request in doubt if one of its objects was listed separately', () => {
    run((file) => {
      file.begun([0, 2]);
      file.settled([0, 0]);
    });
    run((file) => {
      expect(numbers(file.isSettled)).toEqual([0]);
      expect(numbers(file.isInDoubt).filter((number) => number > 0)).toEqual([1, 2]);
    });
  });

  test('drops a truncated line, and appends after the complete ones', () => {
    run((file) => file.settled([0, 7]));
    appendFileSync(path, 'settled 8 1');
    run((file) => {
      expect(numbers(file.isSettled)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      file.settled([8, 9]);
    });
    run((file) => expect(numbers(file.isSettled)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    expect(readFileSync(path, 'utf8')).not.toContain('settled 8 1\n');
  });

  test('continues if the input has grown', () => {
    writeFileSync(input, '{"events":{}}\n');
    run((file) => file.settled([0, 0]));
    appendFileSync(input, '{"events":{}}\n'.repeat(10_000));
    run((file) => expect(file.isSettled(0)).toBe(true));
  });

  test.each([
    [
      'another API',
      { api: 'https://rest.example' },
      /is of a run with http:\/\/127\.0\.0\.1:8787, not https/,
    ],
    ['another input format', { format: 'csv events ,' }, /is of a run with another input/],
  ])('is rejected for %s, because unsent objects would be skipped', (_, more, message) => {
    run((file) => file.settled([0, 9]));
    expect(() => open(more)).toThrow(message);
  });

  test('is rejected for another input', () => {
    run((file) => file.settled([0, 9]));
    writeFileSync(input, '{"purchases":{}}\n'.repeat(10_000));
    expect(() => open()).toThrow(/is of a run with another input than .*; name another file$/);
  });

  test.each(['a line\n', 'no line', '{"api":"x"}\n', '[]\n'])(
    'does not overwrite another file: %j',
    (mine) => {
      writeFileSync(path, mine);
      expect(() => open()).toThrow(/is not a --resume file; name another file$/);
      expect(readFileSync(path, 'utf8')).toBe(mine);
    },
  );
});

test('detects whether a number is in unordered ranges', () => {
  const range = fc.tuple(fc.nat(60), fc.nat(20)).map(([first, more]): Range => [first, first + more]);
  fc.assert(
    fc.property(fc.array(range, { maxLength: 12 }), (ranges) => {
      const isIn = createRanges(ranges);
      for (let number = 0; number <= 90; number += 1) {
        expect(isIn(number)).toBe(ranges.some(([first, last]) => first <= number && number <= last));
      }
    }),
  );
});
