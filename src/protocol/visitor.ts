/**
 * ID of a visitor without an account, in place of a user's: 122 random bits that no one else can guess, so that who
 * has it is the visitor. Browsers make it; no user of the host's own may have an ID like it.
 */
const VISITOR_ID = /^placard-visitor-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const isVisitorId = (userId: string): boolean => VISITOR_ID.test(userId);
