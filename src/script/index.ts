/** Exports of the global `Placard` in `placard-all.global.js`, for pages without a bundler. Includes the templates. */
export * from '../client/index.ts';
export * from '../element/index.ts';
export * from '../templates/index.ts';
