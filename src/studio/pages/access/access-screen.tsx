import type { AccessAnswer } from '../../server/routes/access.ts';
import { call, wordsOf } from '../call.ts';
import { announce } from '../parts/announce.tsx';
import { ago, wholeMoment } from '../parts/dates.ts';
import { LoadView } from '../parts/load-view.tsx';
import { useLoad } from '../parts/use-load.ts';
import { Audit } from './audit.tsx';
import './access.css';

const ROLES: Readonly<Record<string, string>> = {
  view: 'looks at everything',
  edit: 'writes drafts',
  publish: 'writes, publishes, takes back',
  admin: 'all of it, and sees this page',
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
    <div class="access">
      <h1>Access</h1>
      <LoadView loaded={loaded} again={again}>
        {({ operators, sessions }) => (
          <>
            <section class="panel">
              <h2>Operators</h2>
              <p class="muted">
                They are in the workspace file. To add a colleague, run{' '}
                <code>npx placard operator new --name Mia --role edit</code>: it prints a key to hand over,
                and a line for <code>operators</code> in the file. The file is read again by itself; who is
                taken out of it is signed out.
              </p>
              <ul class="access-list">
                {operators.map(({ name, role, people }) => (
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
                {sessions.map(({ id, operator, since, seen, isOwn }) => (
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
      </LoadView>
      <section class="panel">
        <h2>Who did what</h2>
        <Audit />
      </section>
    </div>
  );
};
