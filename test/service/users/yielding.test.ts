import { expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/index.ts';
import { trackUsers } from '../../../src/service/users/track.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { aWorkspace, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { runService } from '../../helpers/running-service.ts';

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

test('yields to other requests while it validates a body of several megabytes', async () => {
  const attributes = Array.from({ length: 75 }, (_, i) => ({ external_id: `u-${i}`, list, more: list }));
  expect(await tracked(attributes)).toEqual(['another request', 'applied']);
});

test('validates and applies an ordinary body in one turn', async () => {
  expect(await tracked([{ external_id: 'u-1', tier: 'gold' }])).toEqual(['applied', 'another request']);
});

test('yields to other requests while it exports the users of a shared address', async () => {
  const service = await runService([aWorkspace()]);
  const call = (path: string, body: object) => service.call('POST', path, { key: SERVER_KEY, body });
  const email = 'all@example.org';
  const attributes = Array.from({ length: 60 }, (_, user) => ({ external_id: `u-${user}`, email }));
  try {
    await call('/users/track', { attributes });
    let [turns, isOver] = [0, false];
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const answer = await call('/users/export/ids', { email_address: email });
    isOver = true;
    expect(answer.body.users).toHaveLength(60);
    expect(turns).toBeGreaterThan(29);
  } finally {
    await service.stop();
  }
});
