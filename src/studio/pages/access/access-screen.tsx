import { useSignal } from '@preact/signals';
import type { AccessAnswer, AuditAnswer } from '../../server/routes/access.ts';
import { call, wordsOf } from '../call.ts';
import { announce } from '../parts/announce.tsx';
import { ago, wholeMoment } from '../parts/dates.ts';
import { Problem } from '../parts/problem.tsx';
import { TableBox } from '../parts/table-box.tsx';
import { useLoad } from '../parts/use-load.ts';
import './access.css';

const ROLES: Readonly<Record<string, string>> = {
  view: 'looks at everything',
  edit: 'writes drafts',
  publish: 'writes, publishes, takes back',
  admin: 'all of it, and sees this page',
};

const Audit = () => {
  const { loaded, again } = useLoad(() => call<AuditAnswer>('GET', '/api/audit'), 'audit');
  const more = useSignal<AuditAnswer[]>([]);
  if (loaded.state === 'loading') return <div aria-busy="true" />;
  if (loaded.state === 'failed') {
    return (
      <Problem title={loaded.words}>
        <button type="button" class="button" onClick={() => void again()}>
          Try again
        </button>
      </Problem>
    );
  }
  const pages = [loaded.value, ...more.value];
  const { before } = pages.at(-1)!;
  return (
    <>
      <TableBox label="Audit">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col">Of</th>
            <th scope="col">More</th>
          </tr>
        </thead>
        <tbody>
          {pages
            .flatMap(({ entries }) => entries)
            .map(({ at, operator, action, subject, details }) => (
              <tr key={`${at} ${operator} ${action} ${subject}`}>
                <td>{wholeMoment(at)}</td>
                <th scope="row">
                  <bdi>{operator}</bdi>
                </th>
                <td>{action}</td>
                <td>
                  <bdi>{subject}</bdi>
                </td>
                <td>{details}</td>
              </tr>
            ))}
        </tbody>
      </TableBox>
      {before !== null && (
        <button
          type="button"
          class="button"
          onClick={async () => {
            try {
              more.value = [...more.value, await call<AuditAnswer>('GET', `/api/audit?before=${before}`)];
            } catch (error) {
              announce(wordsOf(error));
            }
          }}
        >
          Show more
        </button>
      )}
    </>
  );
};

/** Who may do what here, who is signed in, and who did what. */
export const AccessScreen = () => {
  const { loaded, again } = useLoad(() => call<AccessAnswer>('GET', '/api/access'), 'access');
  const end = async (id: string) => {
    try {
      await call('DELETE', `/api/sessions/${id}`);
      announce('The session is ended.');
      await again();
    } catch (error) {
      announce(wordsOf(error));
    }
  };
  return (
    <div class="access" aria-busy={loaded.state === 'loading'}>
      <h1>Access</h1>
      {loaded.state === 'failed' && (
        <Problem title={loaded.words}>
          <button type="button" class="button" onClick={() => void again()}>
            Try again
          </button>
        </Problem>
      )}
      {loaded.state === 'ready' && (
        <>
          <section class="panel">
            <h2>Operators</h2>
            <p class="muted">
              They are in the workspace file. <code>placard operator new</code> makes a key and the line for
              it.
            </p>
            <ul class="access-list">
              {loaded.value.operators.map(({ name, role, people }) => (
                <li key={name}>
                  <b>
                    <bdi>{name}</bdi>
                  </b>
                  <span>
                    {role} <span class="muted">– {ROLES[role]}</span>
                  </span>
                  <span class="muted">{people ? 'may look at users' : 'personas only'}</span>
                </li>
              ))}
            </ul>
          </section>
          <section class="panel">
            <h2>Signed in now</h2>
            <ul class="access-list">
              {loaded.value.sessions.map(({ id, operator, since, seen, isOwn }) => (
                <li key={id}>
                  <b>
                    <bdi>{operator}</bdi>
                  </b>
                  <span class="muted">
                    since {wholeMoment(since)}, last seen {ago(seen)}
                  </span>
                  {isOwn ? (
                    <span class="muted">this is you</span>
                  ) : (
                    <button
                      type="button"
                      class="button"
                      aria-label={`End the session of ${operator}`}
                      onClick={() => void end(id)}
                    >
                      End it
                    </button>
                  )}
                </li>
              ))}
            </ul>
          </section>
        </>
      )}
      <section class="panel">
        <h2>Who did what</h2>
        <Audit />
      </section>
    </div>
  );
};
