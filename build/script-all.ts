/** What `placard-all.global.js` puts into the global `Placard`: for pages without a bundler, which need the templates most. */
export * from '../src/client/index.ts';
export * from '../src/element/index.ts';
export * from '../src/templates/index.ts';
