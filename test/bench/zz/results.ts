import { openStore } from '../../../src/service/store/index.ts';
import { fillWithResults, GOALS } from '../load/fill-results.ts';
import { existsSync } from 'node:fs';
const file = process.argv[2]!;
const count = Number(process.argv[3]);
let t = performance.now();
if (!existsSync(file)) { await fillWithResults(file, count); console.log('filled', ((performance.now() - t) / 1000).toFixed(1), 's'); }
const store = await openStore(file);
const q = { campaignId: 'campaign-99', conversions: GOALS };
t = performance.now();
let r = await store.campaignResults('bench', q);
console.log('first, counted in steps', ((performance.now() - t) / 1000).toFixed(2), 's', JSON.stringify(r.arms.map((a) => [a.variantId, a.exposed, a.goals])));
const all: number[] = [];
for (let i = 0; i < 50; i += 1) { t = performance.now(); r = await store.campaignResults('bench', q); all.push(performance.now() - t); }
all.sort((a, b) => a - b);
console.log('then ms median', all[25]!.toFixed(2), 'max', all[49]!.toFixed(2));
t = performance.now();
console.log('differences', JSON.stringify((await store.recount('bench')).filter((d) => d.part.startsWith('goal'))), ((performance.now() - t) / 1000).toFixed(1), 's');
await store.close();
