/** Header of requests that pages send without an operator's input, such as polls. They do not extend the session. */
export const POLL_HEADER = 'placard-poll';
