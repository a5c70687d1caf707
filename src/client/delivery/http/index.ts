export { createKeepaliveBudget, type KeepaliveBudget } from './keepalive-budget.ts';
export { createPostTrack, type PostTrack } from './post-track.ts';
export { type BatchDelivery, readAnswer, type Skipped } from './read-answer.ts';
export { type TrackedEvent, trackBody } from './track-body.ts';
