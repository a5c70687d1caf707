// A separate entry point, so that browsers never load the schema library.
export * from './banners-sync.ts';
export * from './banners-track.ts';
export * from './body.ts';
export * from './explain.ts';
export * from './identity.ts';
export * from './integrations.ts';
export * from './placements.ts';
export * from './preview.ts';
export * from './user-events.ts';
export * from './users-track.ts';
