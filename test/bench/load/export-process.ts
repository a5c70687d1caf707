// What `placard export users` does, in a process of its own, with nobody to read the lines.
import { exportLines, openStoreReader } from '../../../src/service/index.ts';

process.send?.({ port: 0 });
const reader = await openStoreReader(process.argv[2]!);
let bytes = 0;
for await (const line of exportLines(reader, 'users', 'bench')) bytes += JSON.stringify(line).length;
await reader.close();
process.exit(bytes > 0 ? 0 : 1);
