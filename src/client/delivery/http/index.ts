export { createKeepaliveBudget, type KeepaliveBudget } from './keepalive-budget.ts';
export { createPostTrack, type PostTrack, trackBody, withUserToken } from './post-track.ts';
export { inDoubt, readAnswer, type Verdict } from './read-answer.ts';
