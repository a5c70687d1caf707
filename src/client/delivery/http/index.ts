export { createKeepaliveBudget, type KeepaliveBudget } from './keepalive-budget.ts';
export { inDoubt, readAnswer, type Verdict } from './read-answer.ts';
export { trackBody, withUserToken } from './track-body.ts';
