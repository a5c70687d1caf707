import { useSignal } from '@preact/signals';
import type { AccessResponse, AuditResponse } from '../../server/routes/access.ts';
import { call } from '../call.ts';
import { Button, into } from '../components/controls.tsx';
import { DataTable } from '../components/data-table.tsx';
import { ago, wholeMoment } from '../components/format.ts';
import { LoadView, Pages, Resource, useGet } from '../components/loading.tsx';
import { announceResult } from '../components/notices.tsx';
import { Operators } from './operators.tsx';
import '../screens.css';

/** Debounce of the search, in milliseconds. */
const TYPING_MS = 300;

/** Audit log, newest first, with search. */
const Audit = () => {
  const terms = useSignal('');
  const path = `/api/audit?find=${encodeURIComponent(terms.value.trim())}`;
  const { loaded, again } = useGet<AuditResponse>(path, { pauseMs: TYPING_MS, keepsLast: true });
  return (
    <>
      <div class="row">
        <input
          type="search"
          class="audit-find"
          aria-label="Find in the audit"
          placeholder="Operator, action or campaign"
          value={terms.value}
          onInput={(event) => into(terms)(event.currentTarget.value)}
        />
        <a class="button" href={`${path}&as=csv`} download>
          Download CSV
        </a>
      </div>
      <LoadView loaded={loaded} again={again}>
        {(first) => (
          <Pages
            key={JSON.stringify(first)}
            first={first}
            read={(before) => call<AuditResponse>('GET', `${path}&before=${before}`)}
            moreName="Show more"
          >
            {(pages) => (
              <DataTable
                label="Audit"
                rows={pages.flatMap(({ entries }) => entries)}
                getRowKey={({ at, operator, action, subject }) => `${at} ${operator} ${action} ${subject}`}
                columns={[
                  { name: 'Time', cell: ({ at }) => wholeMoment(at) },
                  { name: 'Operator', kind: 'head', cell: ({ operator }) => operator },
                  { name: 'Action', cell: ({ action }) => action },
                  {
                    name: 'Subject',
                    cell: ({ subject, subjectName }) => <bdi title={subject}>{subjectName}</bdi>,
                  },
                  { name: 'Details', cell: ({ details }) => <span class="wrap-anywhere">{details}</span> },
                ]}
              />
            )}
          </Pages>
        )}
      </LoadView>
    </>
  );
};

/** Roles, signed-in operators and the audit log. */
export const AccessScreen = () => {
  const end = (id: string, again: () => Promise<void>) =>
    announceResult(async () => {
      await call('DELETE', `/api/sessions/${id}`);
      await again();
      return 'Session revoked.';
    });
  return (
    <div class="stack">
      <h1>Access</h1>
      <Resource<AccessResponse> path="/api/access">
        {({ operators, sessions }, again) => (
          <>
            <Operators operators={operators} again={again} />
            <section class="panel">
              <h2>Active sessions</h2>
              <DataTable
                label="Active sessions"
                rows={sessions}
                getRowKey={({ id }) => id}
                columns={[
                  { name: 'Operator', kind: 'head', cell: ({ operator }) => operator },
                  {
                    name: 'Session',
                    cell: ({ since, seen }) => `since ${wholeMoment(since)}, last seen ${ago(seen)}`,
                  },
                  {
                    name: 'Action',
                    cell: ({ id, operator, isOwn }) =>
                      isOwn ? (
                        'This session'
                      ) : (
                        <Button
                          look="quiet danger"
                          aria-label={`Revoke session of ${operator}`}
                          onClick={() => void end(id, again)}
                        >
                          Revoke
                        </Button>
                      ),
                  },
                ]}
              />
            </section>
          </>
        )}
      </Resource>
      <section class="panel">
        <h2>Audit log</h2>
        <Audit />
      </section>
    </div>
  );
};
