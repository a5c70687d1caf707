// A front door of its own: a browser never enters here, so no schema library is in what it loads.
export * from './banners-sync.ts';
export * from './banners-track.ts';
export * from './body.ts';
export * from './explain.ts';
export * from './identity.ts';
export * from './integrations.ts';
export * from './preview.ts';
export * from './user-events.ts';
export * from './users-track.ts';
