// The `happy-dom` environment of Vitest with the package in one file: its 600 modules take 0.5 s of CPU time per test file.
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import manifest from 'happy-dom/package.json' with { type: 'json' };
import { builtinEnvironments } from 'vitest/runtime';

const FILE = join(import.meta.dirname, `../../node_modules/.cache/happy-dom-${manifest.version}.mjs`);

if (!existsSync(FILE)) {
  const { build } = await import('esbuild');
  const partial = `${FILE}.${process.pid}`;
  await build({
    entryPoints: ['happy-dom'],
    outfile: partial,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // For its dependencies in CommonJS.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  // Other workers may have built it too.
  await rename(partial, FILE);
}
const url = pathToFileURL(FILE).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'happy-dom' ? { url, shortCircuit: true } : next(specifier, context),
});

export default builtinEnvironments['happy-dom'];
