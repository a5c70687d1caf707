#!/usr/bin/env node
/** Before 22.16, `node:sqlite` finalizes statements that are in use, or crashes. */
const MIN_NODE = [22, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  const needed = MIN_NODE.join('.');
  process.stderr.write(
    `placard needs Node ${needed} or newer; this is ${process.version}, ${process.execPath}. Install a newer one there, or beside placard (npm install node@24) and run placard by npx, by an npm script, or as: node_modules/.bin/node node_modules/.bin/placard\n`,
  );
  process.exitCode = 1;
} else {
  // Imports the commands after the version check, because older versions of Node.js cannot load them.
  const { run } = await import('./run.ts');
  process.exitCode = await run(process.argv.slice(2));
}
