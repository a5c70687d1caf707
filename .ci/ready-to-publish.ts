// Fails unless the owner has filled in the repository and dated the changelog.
import { readFileSync } from 'node:fs';
import manifest from '../package.json' with { type: 'json' };

const places = JSON.stringify([manifest.homepage, manifest.bugs, manifest.repository]);
const problems = [
  places.includes('OWNER') && 'package.json: put your repository into homepage, bugs and repository',
  !new RegExp(`^## \\[${manifest.version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm').test(
    readFileSync('CHANGELOG.md', 'utf8'),
  ) && `CHANGELOG.md: give ${manifest.version} its date, as in "## [${manifest.version}] - 2026-01-31"`,
].filter(Boolean);

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
