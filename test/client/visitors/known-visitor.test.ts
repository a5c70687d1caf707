import { afterEach, expect, test } from 'vitest';
import { readOptions } from '../../../src/client/options/read-options.ts';
import { createKnownVisitor } from '../../../src/client/user/current-user.ts';

const VISITOR = 'placard-visitor-3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a';
const APP = { appId: 'app', appVersion: '1.0.0', apiKey: 'key', endpoint: 'http://127.0.0.1:1' };
const aVisitor = (visitors: boolean) => createKnownVisitor(readOptions({ ...APP, userId: null, visitors }));

afterEach(() => localStorage.clear());

test('a visitor is known by the ID that the browser profile keeps, where the host takes visitors', () => {
  localStorage.setItem(aVisitor(true).storageKey, VISITOR);
  expect(aVisitor(true).id()).toBe(VISITOR);
  expect(aVisitor(false).id()).toBeNull();
});

test('a visitor who is a user by now is not known as one any more, joined or not', () => {
  localStorage.setItem(aVisitor(true).storageKey, `${VISITOR} kim`);
  expect(aVisitor(true).id()).toBeNull();
});
