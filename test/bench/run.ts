// The performance table: `npm run bench` runs all, `npm run bench -- service client-size` those with these prefixes.
import { globSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Bench, Row } from './row.ts';

const COLUMNS: (keyof Row)[] = ['what', 'figure', 'floor', 'ratio', 'spread', 'target'];

const wanted = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const isWanted = (name: string) => wanted.length === 0 || wanted.some((word) => name.startsWith(word));

const line = (cells: string[]) => `| ${cells.join(' | ')} |`;

const printTable = (name: string, rows: Row[]) => {
  console.log(`\n### ${name}\n`);
  console.log(line(COLUMNS));
  console.log(line(COLUMNS.map(() => '---')));
  for (const row of rows) console.log(line(COLUMNS.map((column) => row[column] ?? '')));
};

const files = globSync('test/bench/{service,client}-*.ts').sort();
const benches: Bench[] = [];
for (const file of files) {
  const module = (await import(pathToFileURL(resolve(file)).href)) as { benches?: Bench[] };
  benches.push(...(module.benches ?? []));
}

console.log(
  `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model}), ${Math.round(totalmem() / 2 ** 30)} GiB, kernel ${release()}`,
);
let failures = 0;
for (const bench of benches.filter(({ name }) => isWanted(name))) {
  try {
    printTable(bench.name, await bench.run());
  } catch (error) {
    failures += 1;
    console.log(`\n### ${bench.name}\n\nfailed: ${error instanceof Error ? error.stack : error}`);
  }
}
// Child processes of a failed bench exit with this process.
process.exit(failures > 0 ? 1 : 0);
