import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as protocol from '../../src/protocol/index.ts';
import { EVENT_ERROR } from '../../src/protocol/schemas/index.ts';

const page = readFileSync('docs/reference/errors.md', 'utf8');
const { ERROR_MESSAGES, TRACK_ERROR } = protocol;

test('docs/reference/errors.md lists every message of the API', () => {
  const messages: string[] = [ERROR_MESSAGES, TRACK_ERROR, EVENT_ERROR].flatMap((each) =>
    Object.values(each),
  );
  expect(messages.length).toBeGreaterThan(40);
  expect(messages.filter((message) => !page.includes(`\`${message}\``))).toEqual([]);
});

test('docs/reference/errors.md lists the format of every message about a field', () => {
  const { required, notValid, invalidNested, tooManyUpdates, tooManyAttributes, tooManyPushTokens } =
    protocol;
  const forms = [required, notValid, invalidNested].map((form) => form('<name>'));
  const bounds = [tooManyUpdates('<name>'), tooManyAttributes('<name>'), tooManyPushTokens()];
  const starts = bounds.map((text) => `${text.split(':')[0]}: …`);
  expect([...forms, ...starts].filter((text) => !page.includes(`\`${text}\``))).toEqual([]);
});
