import { useSignal } from '@preact/signals';
import { signedIn } from '../shell/session.ts';

/** As whom something is looked at. */
export interface PersonChosen {
  kind: 'new' | 'persona' | 'user';
  name: string;
}

/** The same as the server wants it. */
export const personBodyOf = ({ kind, name }: PersonChosen): Record<string, string> => {
  if (kind === 'persona') return { persona: name };
  return kind === 'user' && name !== '' ? { user: name } : {};
};

const USER = 'user:';

/** Somebody new, a persona, or a real user for those who may see people. */
export const PersonChoice = ({
  chosen,
  onChoose,
}: {
  chosen: PersonChosen;
  onChoose(chosen: PersonChosen): void;
}) => {
  const { workspace, operator } = signedIn();
  const typed = useSignal(chosen.kind === 'user' ? chosen.name : '');
  const value = chosen.kind === 'persona' ? `persona:${chosen.name}` : chosen.kind === 'user' ? USER : 'new';
  return (
    <div class="person">
      <select
        aria-label="Seen by"
        value={value}
        onChange={(event) => {
          const next = event.currentTarget.value;
          if (next === 'new') onChoose({ kind: 'new', name: '' });
          else if (next === USER) onChoose({ kind: 'user', name: typed.value });
          else onChoose({ kind: 'persona', name: next.slice('persona:'.length) });
        }}
      >
        <option value="new">Somebody new</option>
        {workspace.personas.map((name) => (
          <option key={name} value={`persona:${name}`}>
            {name}
          </option>
        ))}
        {operator.people && <option value={USER}>A real user …</option>}
      </select>
      {chosen.kind === 'user' && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            onChoose({ kind: 'user', name: typed.value.trim() });
          }}
        >
          <input
            aria-label="ID of the user"
            placeholder="ID of the user, then Enter"
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
