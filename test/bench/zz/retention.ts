// 500,000 old rows of each kind: how long a step holds writes.
import { openStore } from '../../../src/service/store/index.ts';
import { anEvent } from '../../service/store/examples.ts';
import { aBannerEvent } from '../../helpers/banner-events.ts';
const address = process.argv[2]!;
const ROWS = Number(process.argv[3] ?? 500_000);
const store = await openStore(address);
const OLD = Date.now() - 500 * 86_400_000;
const USERS = 50_000;
let t = performance.now();
for (let from = 0; from < ROWS; from += 2_000) {
  const names = Array.from({ length: 2_000 }, (_, i) => `u-${(from * 7 + i * 13) % USERS}`);
  const lookups = [...new Set(names)].map((value) => ({ by: 'external_id' as const, value }));
  await store.write({ workspaceId: 'demo', lookups, nowMs: OLD, apply(users) {
    names.forEach((externalId, i) => {
      const p = users.find({ by: 'external_id', value: externalId })[0] ?? users.create({ externalId }, OLD);
      const timeMs = OLD + (from + i) * 100;
      users.record(p, { ...anEvent(p, 'viewed', timeMs), receivedAtMs: timeMs, properties: { colour: 'red', size: 12 } });
      users.recordBannerEvents(externalId, [aBannerEvent({ campaignId: `c-${i % 5}`, bannerId: `bnr_${'x'.repeat(90)}${i % 5}`, timeMs, receivedAtMs: timeMs })], OLD, true);
    });
  } });
}
console.log(address.slice(0, 8), 'filled', ROWS, ((performance.now() - t) / 1000).toFixed(1), 's');
const before = { events: Date.now() - 86_400_000, bannerEvents: Date.now() - 86_400_000 };
const steps: number[] = [];
let waits: number[] = [];
let isOver = false;
const writing = (async () => {
  for (let i = 0; !isOver; i += 1) {
    const started = performance.now();
    await store.write({ workspaceId: 'demo', lookups: [{ by: 'external_id', value: `n-${i % 100}` }], nowMs: Date.now(), apply(users) {
      const p = users.find({ by: 'external_id', value: `n-${i % 100}` })[0] ?? users.create({ externalId: `n-${i % 100}` }, Date.now());
      p.custom['n'] = i; users.changed(p);
    } });
    waits.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
})();
const alone = await (async () => { await new Promise((resolve) => setTimeout(resolve, 3000)); const a = waits; waits = []; return a; })();
t = performance.now();
for (let hasMore = true; hasMore && performance.now() - t < 120_000; ) {
  const started = performance.now();
  const pruned = await store.prune('demo', before);
  steps.push(performance.now() - started);
  hasMore = pruned.hasMore;
  await new Promise((resolve) => setTimeout(resolve, 10));
}
isOver = true; await writing;
const q = (list: number[], p: number) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * p))]!.toFixed(1);
console.log(address.slice(0, 8), steps.length, 'steps of both tables: median', q(steps, 0.5), 'p99', q(steps, 0.99), 'max', q(steps, 1), 'ms; whole', ((performance.now() - t) / 1000).toFixed(0), 's');
console.log('  writes alone: median', q(alone, 0.5), 'p99', q(alone, 0.99), 'max', q(alone, 1), '; beside: median', q(waits, 0.5), 'p99', q(waits, 0.99), 'max', q(waits, 1));
t = performance.now(); await store.prune('demo', before); console.log('  nothing old:', (performance.now() - t).toFixed(1), 'ms');
await store.close();
