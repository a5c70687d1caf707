import { expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/index.ts';
import { trackUsers } from '../../../src/service/users/track.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { aWorkspace } from '../../helpers/a-workspace.ts';

const tracked = async (attributes: unknown[]): Promise<string[]> => {
  const store = await openStore(':memory:');
  const order: string[] = [];
  setImmediate(() => order.push('another request'));
  await trackUsers({
    workspace: parseWorkspace(aWorkspace(), 'test'),
    store: {
      ...store,
      write: (work) => {
        order.push('applied');
        return store.write(work);
      },
    },
    body: { attributes },
    nowMs: Date.UTC(2026, 2, 1),
    limit: { max: 75, counting: 'combined' },
  });
  await store.close();
  return order;
};

const list = Array.from({ length: 450 }, (_, i) => `${i}${'x'.repeat(200)}`);

test('a body of megabytes lets others have their turn before all of it is checked', async () => {
  const attributes = Array.from({ length: 75 }, (_, i) => ({ external_id: `u-${i}`, list, more: list }));
  expect(await tracked(attributes)).toEqual(['another request', 'applied']);
});

test('an ordinary body is checked and applied at once', async () => {
  expect(await tracked([{ external_id: 'u-1', tier: 'gold' }])).toEqual(['applied', 'another request']);
});
