import { useSignal } from '@preact/signals';
import { Select } from '../components/controls.tsx';
import { signedIn } from '../shell/session.ts';

/** User selected for the preview. */
export interface PersonChosen {
  kind: 'new' | 'persona' | 'user';
  name: string;
}

/** Returns the choice as a request body. */
export const toPersonBody = ({ kind, name }: PersonChosen): Record<string, string> => {
  if (kind === 'persona') return { persona: name };
  return kind === 'user' && name !== '' ? { user: name } : {};
};

const PERSONA = 'persona:';

interface PersonChoiceProps {
  chosen: PersonChosen;
  onChoose(chosen: PersonChosen): void;
}

/** Choice between a new visitor, a persona, and a real user if the operator can view users. */
export const PersonChoice = ({ chosen, onChoose }: PersonChoiceProps) => {
  const { workspace, operator } = signedIn();
  const typed = useSignal(chosen.kind === 'user' ? chosen.name : '');
  return (
    <div class="row person">
      <Select
        aria-label="Preview as"
        value={chosen.kind === 'persona' ? PERSONA + chosen.name : chosen.kind}
        options={[
          { value: 'new', name: 'New user' },
          ...workspace.personas.map((name) => ({ value: PERSONA + name, name })),
          ...(operator.canViewUsers ? [{ value: 'user', name: 'Existing user…' }] : []),
        ]}
        onChoose={(next) => {
          if (next === 'new') onChoose({ kind: 'new', name: '' });
          else if (next === 'user') onChoose({ kind: 'user', name: typed.value });
          else onChoose({ kind: 'persona', name: next.slice(PERSONA.length) });
        }}
      />
      {chosen.kind === 'user' && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            onChoose({ kind: 'user', name: typed.value.trim() });
          }}
        >
          <input
            aria-label="User ID"
            placeholder="User ID, then Enter"
            autoComplete="off"
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        </form>
      )}
    </div>
  );
};
