import { signal } from '@preact/signals';

const said = signal({ words: '', times: 0 });

/** Says in a moment what has happened, to everybody: shown at the foot of the window and read out. */
export const announce = (words: string): void => {
  const times = said.value.times + 1;
  said.value = { words, times };
  setTimeout(() => {
    if (said.value.times === times) said.value = { words: '', times };
  }, 6_000);
};

export const Announcer = () => (
  <div class="announcer" role="status">
    {said.value.words !== '' && <p key={said.value.times}>{said.value.words}</p>}
  </div>
);
