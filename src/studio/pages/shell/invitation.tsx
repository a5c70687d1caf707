import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call } from '../call.ts';
import { Button } from '../components/controls.tsx';
import { copyText } from '../components/dialog.tsx';
import { useAction } from '../components/loading.tsx';
import { announceResult } from '../components/notices.tsx';

/** Opens the Studio with the new session. Loads the page, so that the token leaves the URL. */
const leave = () => location.replace('/');

/** Accepts the invitation of the URL's fragment, and shows the new operator key once. */
export const Invitation = () => {
  const key = useSignal<string | null>(null);
  const { problem, isBusy, run } = useAction(async () => {
    const token = location.hash.slice(1);
    key.value = (await call<{ key: string }>('POST', '/api/invitations', { body: { token } })).key;
  });
  useEffect(() => {
    document.title = 'Invitation · Studio';
  }, []);
  return (
    <main class="login" id="main">
      <div class="login-card">
        <img src="/mark.svg" alt="" width="44" height="44" />
        <h1>Placard Studio</h1>
        {key.value === null ? (
          <>
            <p class="muted">You are invited. Accept to get your operator key.</p>
            <p class="field-problem" role="alert">
              {problem.value}
            </p>
            <Button look="primary" disabled={isBusy.value} onClick={() => void run()}>
              Accept invitation
            </Button>
            {problem.value !== null && <Button onClick={leave}>Go to the sign-in</Button>}
          </>
        ) : (
          <>
            <label for="new-key">Your operator key</label>
            <input id="new-key" readOnly value={key.value} aria-describedby="new-key-help" />
            <p class="field-help" id="new-key-help">
              Store it in a password manager. It is not shown again.
            </p>
            <Button
              onClick={() =>
                void announceResult(async () => {
                  await copyText(key.value!, 'select the key and copy it');
                  return 'Key copied.';
                })
              }
            >
              Copy key
            </Button>
            <Button look="primary" onClick={leave}>
              Continue
            </Button>
          </>
        )}
      </div>
    </main>
  );
};
