// `placard export users` in a child process, with its output discarded.
import { exportLines, openStoreReader } from '../../../src/service/index.ts';

process.send?.({ port: 0 });
const reader = await openStoreReader(process.argv[2]!);
let bytes = 0;
for await (const line of exportLines(reader, 'users', 'bench')) bytes += JSON.stringify(line).length;
await reader.close();
process.exit(bytes > 0 ? 0 : 1);
