import type { Alert } from '../../../service/index.ts';
import type { AlertsResponse } from '../../server/routes/alerts.ts';
import { Resource } from '../components/loading.tsx';
import { Empty } from '../components/notices.tsx';
import { campaignPath, Link } from '../shell/router.tsx';
import '../screens.css';

/** Title and link of each alert type. */
const TYPES: Record<Alert['type'], { title: string; toPath(id: string): string; linkLabel: string }> = {
  sample_ratio_mismatch: {
    title: 'Sample ratio mismatch',
    toPath: (id) => campaignPath(id, '/results'),
    linkLabel: 'Results',
  },
  goal_below_control: {
    title: 'Goal below control group',
    toPath: (id) => campaignPath(id, '/results'),
    linkLabel: 'Results',
  },
  no_impressions: { title: 'No impressions', toPath: () => '/explain', linkLabel: 'See why' },
  campaign_halted: { title: 'Campaign halted', toPath: campaignPath, linkLabel: 'Open campaign' },
  integration_failed: { title: 'Integration failed', toPath: () => '/data', linkLabel: 'Open data' },
};

/** Current problems of campaigns and integrations. */
export const AlertsScreen = () => (
  <>
    <div class="row apart page-head">
      <h1>Alerts</h1>
    </div>
    <Resource<AlertsResponse> path="/api/alerts">
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
                  <Link to={TYPES[type].toPath(subjectId)}>{TYPES[type].linkLabel}</Link>
                </p>
              </li>
            ))}
          </ul>
        )
      }
    </Resource>
  </>
);
