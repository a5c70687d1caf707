// The floor: a server with the same durability that parses the body, appends it to SQLite in synced group commits, and
// responds after the commit. It validates nothing and has no users.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

const database = new DatabaseSync(process.argv[2]!);
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 16384');
database.exec('CREATE TABLE IF NOT EXISTS bodies (id INTEGER PRIMARY KEY, body TEXT NOT NULL)');
const insert = database.prepare('INSERT INTO bodies (body) VALUES (?)');

let group: { body: string; done: () => void }[] = [];
const flush = () => {
  const writing = group;
  group = [];
  database.exec('BEGIN');
  for (const { body } of writing) insert.run(body);
  database.exec('COMMIT');
  for (const { done } of writing) done();
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    const { attributes, events, purchases } = JSON.parse(body);
    const answer = JSON.stringify({
      message: 'success',
      attributes_processed: attributes.length,
      events_processed: events.length,
      purchases_processed: purchases.length,
    });
    if (group.length === 0) setImmediate(flush);
    group.push({
      body,
      done: () => {
        response.writeHead(201, {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(answer),
        });
        response.end(answer);
      },
    });
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

// Exits with the bench.
process.once('disconnect', () => process.exit());
