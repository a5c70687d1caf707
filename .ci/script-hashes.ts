// Prints the two script files with the hash that a page puts into `integrity`, as Markdown for the release notes:
// node .ci/script-hashes.ts [FOLDER], by default dist.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

const folder = process.argv[2] ?? 'dist';
for (const name of ['placard.global.js', 'placard-all.global.js']) {
  const hash = createHash('sha384')
    .update(readFileSync(join(folder, name)))
    .digest('base64');
  console.log(`- \`${name}\` of ${manifest.version}: \`integrity="sha384-${hash}" crossorigin="anonymous"\``);
}
