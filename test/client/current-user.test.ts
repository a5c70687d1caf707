import { afterEach, expect, test } from 'vitest';
import { visitors } from '../../src/client/additions.ts';
import { readOptions } from '../../src/client/options/options.ts';
import { createPagePermission } from '../../src/client/permission.ts';

const VISITOR = 'placard-visitor-3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a';
const APP = { appId: 'app', appVersion: '1.0.0', apiKey: 'key', endpoint: 'http://127.0.0.1:1' };
const aVisitor = (isUsed: boolean) => {
  const user = createPagePermission(
    readOptions({ ...APP, userId: null, use: isUsed ? [visitors()] : [] }),
    () => false,
    expect.unreachable,
  );
  user.update();
  return user;
};

afterEach(() => localStorage.clear());

test('identifies a visitor by the ID stored in the browser profile, if the host enables visitors', () => {
  localStorage.setItem(aVisitor(true).visitorKey, VISITOR);
  expect(aVisitor(true).userId()).toBe(VISITOR);
  expect(aVisitor(false).userId()).toBeNull();
});

test('does not identify a visitor who has become a user, whether joined or not', () => {
  localStorage.setItem(aVisitor(true).visitorKey, `${VISITOR} kim`);
  expect(aVisitor(true).userId()).toBeNull();
});
