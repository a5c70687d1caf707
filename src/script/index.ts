/** What `placard-all.global.js` puts into the global `Placard`: for pages without a bundler, which need the templates most. */
export * from '../client/index.ts';
export * from '../element/index.ts';
export * from '../templates/index.ts';
