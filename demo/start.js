// Plain JavaScript, so that older versions of Node.js can run the version check.
const OLDEST = [22, 18];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  console.error(
    `Node ${process.versions.node} is too old: the demo needs ${OLDEST.join('.')} or newer. "npm ci" brings one along, unless install scripts are switched off.`,
  );
  process.exitCode = 1;
} else await import('./serve.ts');
