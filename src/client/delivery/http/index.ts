export { createKeepaliveBudget, type KeepaliveBudget } from './keepalive-budget.ts';
export { type BatchOutcome, noAnswer, type Pause, readAnswer } from './read-answer.ts';
export { trackBody, withUserToken } from './track-body.ts';
