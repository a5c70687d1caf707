import { useEffect } from 'preact/hooks';
import { capitalize } from '../../campaign/capitalize.ts';
import { formatNumber } from '../../campaign/format-number.ts';
import type { IntegrationResponse } from '../../server/routes/data.ts';
import { DataTable } from '../components/data-table.tsx';
import { wholeMoment } from '../components/format.ts';
import { LoadView, useGet } from '../components/loading.tsx';
import { usePolling } from '../components/polling.ts';

type Run = IntegrationResponse['runs'][number];

/** Formats a duration, such as `1.2 s` or `3 min 20 s`. */
const took = (ms: number | null): string => {
  if (ms === null) return 'running';
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
};

/** Bar chart of runs, oldest first, with rows and rejects stacked. The table below has the same data. */
const Chart = ({ runs }: { runs: Run[] }) => {
  const most = Math.max(1, ...runs.map(({ synced, failed }) => synced + failed));
  const height = (rows: number) => (rows / most) * 56;
  return (
    <svg
      class="data-chart"
      viewBox={`0 0 ${runs.length * 12} 60`}
      preserveAspectRatio="xMinYMax meet"
      aria-hidden="true"
    >
      {runs.toReversed().map(({ id, synced, failed, status }, index) => {
        const stored = height(synced);
        const rejected = height(failed);
        return (
          <g key={id} data-status={status}>
            <rect class="stored" x={index * 12} width="9" y={58 - stored} height={stored + 1} />
            <rect class="rejected" x={index * 12} width="9" y={58 - stored - rejected} height={rejected} />
          </g>
        );
      })}
    </svg>
  );
};

const Rejects = ({ rejects, hasMoreRejects }: IntegrationResponse) => (
  <>
    <h3>Rejected rows</h3>
    <p class="muted">
      Each run retries them, and removes those that are stored or deleted.
      {hasMoreRejects && ' First 100; list all with placard integrations rejects.'}
    </p>
    <DataTable
      label="Rejected rows"
      rows={rejects}
      getRowKey={({ id }) => id}
      columns={[
        { name: 'Why', kind: 'head', cell: ({ reason }) => reason },
        { name: 'Key', cell: ({ key }) => <bdi>{key}</bdi> },
        { name: 'Changed', cell: ({ updatedAt }) => (updatedAt === '' ? '' : wholeMoment(updatedAt)) },
        {
          name: 'Row',
          cell: ({ payload }) =>
            payload === null ? (
              <span class="muted">hidden without the permission to view users</span>
            ) : (
              <code class="wrap-anywhere">{payload}</code>
            ),
        },
      ]}
    />
  </>
);

/** Runs and rejected rows of an integration. */
export const IntegrationDetails = ({ id, isRunning }: { id: string; isRunning: boolean }) => {
  const { loaded, again } = useGet<IntegrationResponse>(`/api/integrations/${encodeURIComponent(id)}`);
  usePolling(again, isRunning);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once more when the run has ended
  useEffect(() => void again(), [isRunning]);
  return (
    <LoadView loaded={loaded} again={again}>
      {(details) =>
        details.runs.length === 0 ? (
          <p class="muted">No runs yet.</p>
        ) : (
          <>
            <Chart runs={details.runs} />
            <DataTable
              label="Runs"
              rows={details.runs}
              getRowKey={(run) => run.id}
              columns={[
                { name: 'Began', kind: 'head', cell: ({ start }) => wholeMoment(start) },
                { name: 'Took', kind: 'number', cell: ({ tookMs }) => took(tookMs) },
                { name: 'Stored', kind: 'number', cell: ({ synced }) => formatNumber(synced) },
                { name: 'Rejected', kind: 'number', cell: ({ failed }) => formatNumber(failed) },
                { name: 'End', cell: ({ status }) => capitalize(status) },
                { name: 'Why', cell: ({ message }) => message ?? '' },
              ]}
            />
            {details.rejects.length > 0 && <Rejects {...details} />}
          </>
        )
      }
    </LoadView>
  );
};
