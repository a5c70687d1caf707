// @vitest-environment node
import { expect, test } from 'vitest';
import type { Placard } from '../../src/client/index.ts';
import { openDevtools } from '../../src/devtools/index.ts';

test('does nothing on a server', () => {
  expect(openDevtools({} as Placard)()).toBeUndefined();
});
