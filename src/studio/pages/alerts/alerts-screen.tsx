import type { Alert } from '../../../service/index.ts';
import type { AlertsResponse } from '../../server/routes/alerts.ts';
import { call } from '../call.ts';
import { LoadView, useLoad } from '../components/loading.tsx';
import { Empty } from '../components/notices.tsx';
import { Link } from '../shell/router.tsx';
import '../screens.css';

const campaignPath = (id: string, tab = '') => `/campaigns/${encodeURIComponent(id)}${tab}`;

/** Title and link of each alert type. */
const TYPES: Record<Alert['type'], { title: string; pathOf(id: string): string; look: string }> = {
  sample_ratio_mismatch: {
    title: 'Sample ratio mismatch',
    pathOf: (id) => campaignPath(id, '/results'),
    look: 'Results',
  },
  no_impressions: { title: 'No impressions', pathOf: () => '/explain', look: 'See why' },
  campaign_halted: { title: 'Campaign halted', pathOf: campaignPath, look: 'Open campaign' },
  integration_failed: { title: 'Integration failed', pathOf: () => '/data', look: 'Open data' },
};

/** Current problems of campaigns and integrations. */
export const AlertsScreen = () => {
  const { loaded, again } = useLoad(() => call<AlertsResponse>('GET', '/api/alerts'), 'alerts');
  return (
    <>
      <div class="row apart page-head">
        <h1>Alerts</h1>
      </div>
      <LoadView loaded={loaded} again={again}>
        {({ alerts }) =>
          alerts.length === 0 ? (
            <Empty title="No alerts" />
          ) : (
            <ul class="panel">
              {alerts.map(({ id, type, subjectId, subjectName, message }) => (
                <li key={id} class="segment">
                  <h2>
                    {TYPES[type].title}: <bdi>{subjectName}</bdi>
                  </h2>
                  <p>{message}</p>
                  <p>
                    <Link to={TYPES[type].pathOf(subjectId)}>{TYPES[type].look}</Link>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </LoadView>
    </>
  );
};
