#!/usr/bin/env node
/** The first Node that has `node:sqlite` without a flag. */
const MIN_NODE = [22, 13] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  process.stderr.write(
    `placard needs Node ${MIN_NODE.join('.')} or newer; this is ${process.version}. Install one, or add it to this project: npm install --save-dev node@24\n`,
  );
  process.exitCode = 1;
} else {
  // Only now: an older Node could not even load what the commands import.
  const { run } = await import('./run.ts');
  process.exitCode = await run(process.argv.slice(2));
}
