import { useSignal } from '@preact/signals';
import type { AccessResponse, AuditResponse } from '../../server/routes/access.ts';
import { call, describeError } from '../call.ts';
import { Button, into } from '../components/controls.tsx';
import { DataTable } from '../components/data-table.tsx';
import { ago, wholeMoment } from '../components/format.ts';
import { LoadView, Pages, useLoad } from '../components/loading.tsx';
import { announce } from '../components/notices.tsx';
import '../screens.css';

/** Debounce of the search, in milliseconds. */
const TYPING_MS = 300;

/** Audit log, newest first, with search. */
export const Audit = () => {
  const words = useSignal('');
  const path = `/api/audit?find=${encodeURIComponent(words.value.trim())}`;
  const { loaded, again } = useLoad((signal) => call<AuditResponse>('GET', path, { signal }), path, {
    pauseMs: TYPING_MS,
    keepsLast: true,
  });
  return (
    <>
      <div class="row">
        <input
          type="search"
          class="audit-find"
          aria-label="Find in the audit"
          placeholder="Operator, action or campaign"
          value={words.value}
          onInput={(event) => into(words)(event.currentTarget.value)}
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
                keyOf={({ at, operator, action, subject }) => `${at} ${operator} ${action} ${subject}`}
                columns={[
                  { name: 'When', cell: ({ at }) => wholeMoment(at) },
                  { name: 'Who', kind: 'head', cell: ({ operator }) => operator },
                  { name: 'What', cell: ({ action }) => action },
                  {
                    name: 'Of',
                    cell: ({ subject, subjectName }) => <bdi title={subject}>{subjectName}</bdi>,
                  },
                  { name: 'More', cell: ({ details }) => <span class="wrap-anywhere">{details}</span> },
                ]}
              />
            )}
          </Pages>
        )}
      </LoadView>
    </>
  );
};

const ROLES: Readonly<Record<string, string>> = {
  view: 'looks at everything',
  edit: 'writes drafts',
  publish: 'writes, publishes, takes back',
  admin: 'all of it, and sees this page',
};

/** Roles, signed-in operators and the audit log. */
export const AccessScreen = () => {
  const { loaded, again } = useLoad(() => call<AccessResponse>('GET', '/api/access'), 'access');
  const end = async (id: string) => {
    try {
      await call('DELETE', `/api/sessions/${id}`);
      announce('The session is ended.');
      await again();
    } catch (error) {
      announce(describeError(error));
    }
  };
  return (
    <div class="stack">
      <h1>Access</h1>
      <LoadView loaded={loaded} again={again}>
        {({ operators, sessions }) => (
          <>
            <section class="panel">
              <h2>Operators</h2>
              <p class="muted">
                They are in the workspace file. To add a colleague, run{' '}
                <code>npx placard operator create --name Mia --role edit</code>: it prints a key to hand over,
                and a line for <code>operators</code> in the file. The file is read again by itself; who is
                taken out of it is signed out.
              </p>
              <ul class="access-list">
                {operators.map(({ name, role, canViewUsers }) => (
                  <li key={name} class="access-item">
                    <b>
                      <bdi>{name}</bdi>
                    </b>
                    <span>
                      {role} <span class="muted">– {ROLES[role]}</span>
                    </span>
                    <span class="muted">{canViewUsers ? 'can view users' : 'personas only'}</span>
                  </li>
                ))}
              </ul>
            </section>
            <section class="panel">
              <h2>Signed in now</h2>
              <ul class="access-list">
                {sessions.map(({ id, operator, since, seen, isOwn }) => (
                  <li key={id} class="access-item">
                    <b>
                      <bdi>{operator}</bdi>
                    </b>
                    <span class="muted">
                      since {wholeMoment(since)}, last seen {ago(seen)}
                    </span>
                    {isOwn ? (
                      <span class="muted">this is you</span>
                    ) : (
                      <Button aria-label={`End the session of ${operator}`} onClick={() => void end(id)}>
                        End it
                      </Button>
                    )}
                  </li>
                ))}
              </ul>
            </section>
          </>
        )}
      </LoadView>
      <section class="panel">
        <h2>Who did what</h2>
        <Audit />
      </section>
    </div>
  );
};
