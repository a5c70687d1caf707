import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { SignInOptions } from '../../server/sign-in.ts';
import { call, wordsOf } from '../call.ts';
import { loadSession } from './session.ts';

/** What an identity provider's way back has said, which is no more than text. */
const saidBefore = (): string | null => {
  const problem = new URLSearchParams(location.search).get('problem');
  if (problem !== null) history.replaceState(null, '', location.pathname);
  return problem;
};

/** Signs an operator in: with the key that `placard operator new` printed, or through an identity provider. */
export const Login = () => {
  const key = useSignal('');
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const providers = useSignal<SignInOptions['providers']>([]);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = 'Sign in · Studio';
    problem.value = saidBefore();
    input.current?.focus();
    call<SignInOptions>('GET', '/api/sign-in').then(
      (options) => {
        providers.value = options.providers;
      },
      (error) => {
        problem.value = wordsOf(error);
      },
    );
  }, [problem, providers]);

  const signIn = async (event: Event) => {
    event.preventDefault();
    if (key.value.trim() === '') {
      problem.value = 'Enter your operator key.';
      input.current?.focus();
      return;
    }
    isBusy.value = true;
    try {
      await call('POST', '/api/session', { body: { key: key.value } });
      await loadSession();
    } catch (error) {
      problem.value = wordsOf(error);
      input.current?.focus();
      input.current?.select();
    } finally {
      isBusy.value = false;
    }
  };

  return (
    <main class="login" id="main">
      <form class="login-card" onSubmit={(event) => void signIn(event)} noValidate>
        <img src="/mark.svg" alt="" width="44" height="44" />
        <h1>Placard Studio</h1>
        <p class="muted">Write campaigns, look at them, publish them, see what came of them.</p>
        {providers.value.map(({ workspaceId, name, host }) => (
          <a
            key={workspaceId}
            class="button"
            href={`/openid/start?workspace=${encodeURIComponent(workspaceId)}`}
          >
            Sign in to {name} with {host}
          </a>
        ))}
        <label for="key">Operator key</label>
        <input
          ref={input}
          id="key"
          type="password"
          autoComplete="current-password"
          spellcheck={false}
          value={key.value}
          aria-invalid={problem.value !== null}
          aria-describedby="key-problem key-help"
          onInput={(event) => {
            key.value = event.currentTarget.value;
            problem.value = null;
          }}
        />
        <p class="field-problem" id="key-problem" role="alert">
          {problem.value}
        </p>
        <button type="submit" class="button primary" disabled={isBusy.value}>
          {isBusy.value ? 'Signing in …' : 'Sign in'}
        </button>
        <p class="field-help" id="key-help">
          No key yet? The person who runs the service makes one with <code>placard operator new</code>.
        </p>
      </form>
    </main>
  );
};
