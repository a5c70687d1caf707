import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { SignInOptions } from '../../server/sign-in.ts';
import { ActionError, call } from '../call.ts';
import { Button } from '../components/controls.tsx';
import { useAction, useGet } from '../components/loading.tsx';
import { hasEnded, loadSession } from './session.ts';

/** Returns the problem that the OpenID callback added to the URL; `null` if none. Must be rendered as text only. */
const saidBefore = (): string | null => {
  const problem = new URLSearchParams(location.search).get('problem');
  if (problem !== null) history.replaceState(null, '', location.pathname);
  return problem;
};

/** Sign-in with a key from `placard operator create`, or with an identity provider. */
export const Login = () => {
  const key = useSignal('');
  const input = useRef<HTMLInputElement>(null);
  const signIn = useAction(async () => {
    try {
      if (key.value.trim() === '') throw new ActionError('Enter your operator key.');
      await call('POST', '/api/session', { body: { key: key.value } });
    } catch (error) {
      input.current?.focus();
      input.current?.select();
      throw error;
    }
    hasEnded.value = false;
    await loadSession();
  });
  const { problem } = signIn;
  const options = useGet<SignInOptions>('/api/sign-in').loaded;
  const providers = options.state === 'ready' ? options.value.providers : [];
  useEffect(() => {
    document.title = 'Sign in · Studio';
    problem.value = saidBefore();
    input.current?.focus();
  }, [problem]);

  return (
    <main class="login" id="main">
      <form
        class="login-card"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void signIn.run();
        }}
      >
        <img src="/mark.svg" alt="" width="44" height="44" />
        <h1>Placard Studio</h1>
        <p class="muted">
          {hasEnded.value ? 'Session expired. Sign in to continue.' : 'Write, publish and measure campaigns.'}
        </p>
        {providers.map(({ workspaceId, name, host }) => (
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
          {problem.value ?? (options.state === 'failed' ? options.message : null)}
        </p>
        <Button type="submit" look="primary" disabled={signIn.isBusy.value}>
          Sign in
        </Button>
        <p class="field-help" id="key-help">
          No key? Ask an admin to invite you.
        </p>
      </form>
    </main>
  );
};
