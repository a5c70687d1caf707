/** Ours: a page joins a visitor with the user who has signed in. */
export const VISITOR_JOIN_PATH = '/placard/visitors/join';

/**
 * ID of a visitor without an account, in place of a user's: 122 random bits that no one else can guess, so the ID itself
 * proves the visitor. Browsers make it; the host must give no user an ID of this form.
 */
const VISITOR_ID = /^placard-visitor-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const isVisitorId = (userId: string): boolean => VISITOR_ID.test(userId);
