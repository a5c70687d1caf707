/** Columns of `user_campaigns` beside `user_id`. */
const COLUMNS = `campaign_id, workspace_id, variant_id, is_control, impressions, first_impression_at, last_impression_at,
  clicks, dismissals, last_dismissal_at, round`;

const IS_EARLIER = `excluded.first_impression_at < known.first_impression_at
  OR (known.first_impression_at IS NULL AND excluded.first_impression_at IS NOT NULL)`;
const ofEarlier = (column: string) =>
  `${column} = CASE WHEN ${IS_EARLIER} THEN excluded.${column} ELSE known.${column} END`;
const sum = (column: string) => `${column} = known.${column} + excluded.${column}`;
/** The lower or the higher of two moments, the other one where one is NULL. */
const choose = (column: string, which: '<' | '>') =>
  `${column} = CASE WHEN known.${column} ${which} excluded.${column} THEN known.${column}
    ELSE coalesce(excluded.${column}, known.${column}) END`;

const ADD = `ON CONFLICT (user_id, campaign_id) DO UPDATE SET
  ${ofEarlier('variant_id')}, ${ofEarlier('is_control')}, ${sum('impressions')}, ${sum('clicks')}, ${sum('dismissals')},
  ${choose('first_impression_at', '<')}, ${choose('last_impression_at', '>')}, ${choose('last_dismissal_at', '>')},
  round = CASE WHEN known.round > excluded.round THEN known.round ELSE excluded.round END`;

/** Adds rows to `user_campaigns`, of both databases; `source` is `VALUES …`, or a `SELECT` with a `WHERE`. */
export const addCampaigns = (source: string): string =>
  `INSERT INTO user_campaigns AS known (user_id, ${COLUMNS}) ${source} ${ADD}`;

/** Adds the rows of one user to those of another. */
export const moveCampaigns = (from: string, to: string): string =>
  addCampaigns(`SELECT ${to}, ${COLUMNS} FROM user_campaigns WHERE user_id = ${from}`);
