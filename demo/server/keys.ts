/** Keys of the demo workspace. They are public in the repository: do not use them elsewhere. */
export { APP_ID, CLIENT_KEY } from '../shop/demo-keys.ts';
export const SERVER_KEY = 'demo-server-key';
/** Signs in to the demo's Studio. */
export const OPERATOR_KEY = 'demo-operator-key';
