import { WorkspaceError } from '../../src/service/index.ts';
import { APP_ID, CLIENT_KEY, OPERATOR_KEY, SERVER_KEY } from './keys.ts';
import { PEOPLE } from './month/people.ts';
import { SettingsError } from './settings.ts';

interface Announced {
  url: string;
  studioUrl: string;
  hasDemoKeys: boolean;
  isMadeUp: boolean;
}

/** Returns the text printed once the service runs. Its curl command works as is. */
export const announcement = ({ url, studioUrl, hasDemoKeys, isMadeUp }: Announced): string =>
  hasDemoKeys
    ? demoAnnouncement(url, studioUrl, isMadeUp ? MADE_UP : '')
    : `
  Placard runs on your workspace, without the demo shop and its visitors, because the demo keys are missing.

  API       ${url}/docs   (for tools: ${url}/openapi.json)
  Studio    ${studioUrl}/   (sign in with an operator's key: npx placard operator create)

  Stop with Ctrl+C.
`;

const MADE_UP = `
  The Studio shows a month of demo data: ${PEOPLE.toLocaleString('en-GB')} synthetic users, the same at each first start. To start without them, in
  a separate database: npm start -- --empty
`;

const demoAnnouncement = (url: string, studioUrl: string, madeUp: string): string => `
  Placard is running.

  Shop      ${url}/
  Studio    ${studioUrl}/   (sign in with ${OPERATOR_KEY})
  API       ${url}/docs   (for tools: ${url}/openapi.json)
${madeUp}
  Public keys of the demo workspace:
    client  ${CLIENT_KEY}   (banners only)
    server  ${SERVER_KEY}   (everything else)
    app     ${APP_ID}

  Request a banner as a page does:

    curl -s ${url}/v1/device-messaging/banners/sync -H 'Authorization: Bearer ${CLIENT_KEY}' -H 'Content-Type: application/json' -d '{"external_user_id":"mira","app_id":"${APP_ID}","app_version":"1.0.0","placements":["home_hero"]}'

  Stop with Ctrl+C.
`;

/** Returns the text printed after an edit of the workspace file. */
export const reloaded = (problem: Error | null): string =>
  problem === null
    ? 'Workspace file reloaded.'
    : `Workspace file not reloaded: the previous one stays live.\n${problem.message}`;

const AGAIN = 'PORT=8797 PLACARD_DB=other.db npm start';

/** SQLite result code for a locked database. */
const SQLITE_BUSY = 5;

const isClaimed = (error: unknown): boolean =>
  error instanceof Error &&
  error.cause instanceof Error &&
  'errcode' in error.cause &&
  error.cause.errcode === SQLITE_BUSY;

/** Returns the message of an expected startup error; `null` for other errors. */
export const startProblem = (error: unknown): string | null => {
  const { code, port, path } = error as { code?: string; port?: number; path?: string };
  // Also suggests another database, because often another process of this demo uses the port and locks the database.
  if (code === 'EADDRINUSE') return `Port ${port} is in use. Stop that process, or choose another: ${AGAIN}`;
  if (code === 'EACCES') return `Port ${port} needs privileges. Choose another: PORT=8787 npm start`;
  if (code === 'ENOENT') return `${path} does not exist: set PLACARD_WORKSPACE to a workspace file.`;
  if (isClaimed(error))
    return `The demo is already running, or another program uses its database: stop it, or choose another port and file: ${AGAIN}`;
  return error instanceof WorkspaceError || error instanceof SettingsError ? error.message : null;
};
