import { FATAL, USER_TOKEN_HEADER, type UserTokenFault } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';

/** The refusal of a request whose user token does not hold, or is not there. */
export const unproven = (appId: string, fault: UserTokenFault): HttpError =>
  new HttpError(401, FATAL.invalidUserToken, {
    headers: { [USER_TOKEN_HEADER]: fault },
    why: `the user token of app ${appId} does not hold: ${fault}`,
  });
