import { useSignal } from '@preact/signals';
import { formatNumber } from '../../campaign/format-number.ts';
import type { DataResponse } from '../../server/routes/data.ts';
import { call } from '../call.ts';
import { Button } from '../components/controls.tsx';
import { ago, moment } from '../components/format.ts';
import { LoadView, useGet } from '../components/loading.tsx';
import { announceResult, Empty } from '../components/notices.tsx';
import { usePolling } from '../components/polling.ts';
import { hasRole } from '../shell/session.ts';
import { IntegrationDetails } from './integration-details.tsx';
import { Webhooks } from './webhooks.tsx';
import '../screens.css';

type Integration = NonNullable<DataResponse['integrations']>[number];

/** Time to wait for a requested run, which starts within two seconds. */
const START_MS = 5_000;

const STATES: Readonly<Record<string, string>> = {
  Running: 'planned',
  Success: 'live',
  Partial: 'draft',
  Error: 'failed',
};

/** Display names of source types. Other types appear as in the workspace file. */
const SOURCES: Readonly<Record<string, string>> = {
  postgres: 'PostgreSQL',
  sqlite: 'SQLite',
  csv: 'CSV files',
  ndjson: 'NDJSON files',
  parquet: 'Parquet files',
};

const LastRun = ({ lastStatus, lastStart }: Integration) =>
  lastStatus === '' ? (
    <span class="muted">no runs yet</span>
  ) : (
    <>
      <span class="state" data-state={STATES[lastStatus] ?? 'stopped'}>
        {lastStatus}
      </span>
      {lastStart !== '' && <span class="muted">started {ago(lastStart)}</span>}
    </>
  );

const next = ({ runs, status, nextRun }: Integration): string => {
  if (!runs) return 'only listed in the workspace file';
  if (status === 'paused') return 'paused';
  return nextRun === '' ? 'runs on demand' : `next ${moment(nextRun)}`;
};

interface ItemProps {
  each: Integration;
  isOpen: boolean;
  onToggle(): void;
  onSync(): void;
}

const Item = ({ each, isOpen, onToggle, onSync }: ItemProps) => (
  <li class="panel">
    <div class="row">
      <h2>
        <bdi>{each.name}</bdi>
      </h2>
      {each.type !== '' && (
        <span class="muted">
          {each.type} {each.warehouse !== '' && <>from {SOURCES[each.warehouse] ?? each.warehouse}</>}
        </span>
      )}
      {each.runs && (
        <span class="row">
          <LastRun {...each} />
        </span>
      )}
      <span class="muted">{next(each)}</span>
      {each.rejects > 0 && <span class="tag">{formatNumber(each.rejects)} rejected</span>}
      {each.runs && (
        <span class="row data-actions">
          {hasRole('publish') && each.status !== 'paused' && (
            <Button
              disabled={each.lastStatus === 'Running'}
              aria-label={`Sync now: ${each.name}`}
              onClick={onSync}
            >
              Sync now
            </Button>
          )}
          <Button look="quiet" aria-expanded={isOpen} onClick={onToggle}>
            Runs and rejects
          </Button>
        </span>
      )}
    </div>
    {each.lastNote !== null && <p class="data-note">{each.lastNote}</p>}
    {isOpen && <IntegrationDetails id={each.id} isRunning={each.lastStatus === 'Running'} />}
  </li>
);

/** Integrations with their runs and rejected rows, and webhooks. */
export const DataScreen = () => {
  const { loaded, again } = useGet<DataResponse>('/api/integrations');
  const open = useSignal<string | null>(null);
  const asked = useSignal(0);
  const integrations = loaded.state === 'ready' ? (loaded.value.integrations ?? []) : [];
  const isRunning = integrations.some(({ lastStatus }) => lastStatus === 'Running');
  usePolling(again, isRunning || Date.now() - asked.value < START_MS);

  const sync = ({ id, name }: Integration) =>
    announceResult(async () => {
      await call('POST', `/api/integrations/${encodeURIComponent(id)}/sync`);
      asked.value = Date.now();
      open.value = id;
      await again();
      return `${name} runs.`;
    });

  return (
    <div class="stack">
      <h1>Data</h1>
      <LoadView loaded={loaded} again={again}>
        {({ integrations: all }) =>
          all === null || all.length === 0 ? (
            <Empty title="No integrations">
              <p class="muted">
                An entry of <code>integrations</code> in the workspace file with a <code>source</code> brings
                rows from a database or from files.
              </p>
            </Empty>
          ) : (
            <ul class="stack">
              {all.map((each) => (
                <Item
                  key={each.id}
                  each={each}
                  isOpen={open.value === each.id}
                  onToggle={() => {
                    open.value = open.value === each.id ? null : each.id;
                  }}
                  onSync={() => void sync(each)}
                />
              ))}
            </ul>
          )
        }
      </LoadView>
      <Webhooks />
    </div>
  );
};
