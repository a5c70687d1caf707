/** Keys of the demo workspace. Do not use them elsewhere, because they are public in the repository. */
export { APP_ID, CLIENT_KEY } from '../shop/demo-keys.ts';
export const SERVER_KEY = 'demo-server-key';
/** Operator key of the demo's Studio. */
export const OPERATOR_KEY = 'demo-operator-key';
