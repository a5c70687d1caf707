import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { formatCount } from '../../campaign/format-number.ts';
import {
  addLanguage,
  languageName,
  languageTag,
  missingIn,
  otherLanguages,
  removeLanguage,
} from '../../campaign/translations.ts';
import type { TranslatedDraft, TranslationFile } from '../../server/routes/translations.ts';
import { ActionError, call } from '../call.ts';
import { Button, into, Segments } from '../components/controls.tsx';
import { TextField } from '../components/fields.tsx';
import { useAction } from '../components/loading.tsx';
import { announce } from '../components/notices.tsx';
import type { Editor } from './editor-state.ts';
import { readTextFile } from './read-text-file.ts';

/** Suggested languages. The field accepts any other language. */
const COMMON =
  'ar bg cs da de de-AT de-CH el en en-GB es es-MX et fa fi fr fr-CA he hi hr hu id it ja ko lt lv ms nb nl pl pt pt-BR ro ru sk sl sr sv th tr uk ur vi zh-Hans zh-Hant'.split(
    ' ',
  );

interface LanguagesProps {
  editor: Editor;
  /** Language being edited; `null` for the campaign's own. */
  chosen: string | null;
  onChoose(language: string | null): void;
}

const FILES = [
  { format: 'csv', name: 'CSV', ending: 'csv' },
  { format: 'xliff1', name: 'XLIFF 1.2', ending: '1.2.xlf' },
  { format: 'xliff2', name: 'XLIFF 2.0', ending: '2.0.xlf' },
] as const;

const download = (name: string, text: string) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};

/** Export and import of translations. */
const Files = ({ editor, language }: { editor: Editor; language: string }) => {
  const file = useRef<HTMLInputElement>(null);
  const notes = useSignal<string[]>([]);
  const exporting = useAction(async ({ format, ending }: (typeof FILES)[number]) => {
    const campaign = editor.campaign.value;
    const body = { campaign, format, language };
    const { text } = await call<TranslationFile>('POST', '/api/translations/export', { body });
    download(`${campaign.campaign_id}${format === 'csv' ? '' : `.${language}`}.${ending}`, text);
  });
  const importing = useAction(async (chosen: File) => {
    const sent = editor.campaign.value;
    const body = { campaign: sent, text: await readTextFile(chosen) };
    const response = await call<TranslatedDraft>('POST', '/api/translations/import', { body });
    if (editor.campaign.value !== sent)
      throw new ActionError('The draft was changed in the meantime. Import the file again.');
    editor.change(() => response.campaign);
    notes.value = response.notes;
    announce(`${formatCount(response.taken, 'text')} imported from ${chosen.name}.`);
  });
  return (
    <div class="row low">
      {FILES.map((each) => (
        <Button key={each.format} onClick={() => void exporting.run(each)}>
          Export {each.name}
        </Button>
      ))}
      <Button onClick={() => file.current?.click()}>Import…</Button>
      <input
        ref={file}
        type="file"
        hidden
        aria-label="File with translations"
        accept=".csv,.xlf,.xliff,.xml"
        onChange={(event) => {
          const [chosen] = event.currentTarget.files ?? [];
          if (chosen) void importing.run(chosen);
          // Resets the input, so that selecting the same file fires `change` again.
          event.currentTarget.value = '';
        }}
      />
      <p class="field-problem" role="alert">
        {exporting.problem.value ?? importing.problem.value}
      </p>
      {notes.value.length > 0 && (
        <ul class="field-warning">
          {notes.value.map((message) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
      )}
    </div>
  );
};

/** Form that adds a language. For the first one, it also asks for the language of the existing texts. */
const AddLanguage = ({ editor, onChoose }: Pick<LanguagesProps, 'editor' | 'onChoose'>) => {
  const { language } = editor.campaign.value;
  const own = useSignal('en');
  const typed = useSignal('');
  const id = useId();
  const ownTag = language ?? languageTag(own.value);
  const wanted = typed.value.trim().toLowerCase();
  const named = COMMON.find((each) => languageName(each).toLowerCase() === wanted);
  const tag = named ?? languageTag(typed.value);
  const isTaken = tag !== null && (tag === ownTag || otherLanguages(editor.campaign.value).includes(tag));
  return (
    <form
      class="row low"
      onSubmit={(event) => {
        event.preventDefault();
        if (ownTag === null || tag === null || isTaken) return;
        editor.change((campaign) => addLanguage(campaign, ownTag, tag));
        typed.value = '';
        onChoose(tag);
      }}
    >
      <datalist id={`${id}-list`}>
        {COMMON.map((each) => (
          <option key={each} value={each} label={languageName(each)} />
        ))}
      </datalist>
      {language == null && (
        <TextField
          id={`${id}-own`}
          label="Source language"
          list={`${id}-list`}
          value={own.value}
          onType={into(own)}
        />
      )}
      <TextField
        id={`${id}-new`}
        label="Translate into"
        list={`${id}-list`}
        placeholder="de, pt-BR"
        value={typed.value}
        onType={into(typed)}
      />
      <Button type="submit" disabled={ownTag === null || tag === null || isTaken}>
        {tag === null || isTaken ? 'Add the language' : `Add ${languageName(tag)}`}
      </Button>
    </form>
  );
};

/** Languages of the message, with the number of missing translations. */
export const Languages = ({ editor, chosen, onChoose }: LanguagesProps) => {
  const campaign = editor.campaign.value;
  const others = otherLanguages(campaign);
  if (others.length === 0) {
    return (
      <details class="more">
        <summary>Translate it</summary>
        <AddLanguage editor={editor} onChoose={onChoose} />
      </details>
    );
  }
  const formatLanguage = (language: string) => {
    const { length } = missingIn(campaign, language);
    return `${languageName(language)}${length > 0 ? ` · ${length} missing` : ''}`;
  };
  return (
    <section aria-label="Languages">
      <Segments
        label="Language"
        options={[
          { value: '', name: languageName(campaign.language ?? 'en') },
          ...others.map((language) => ({ value: language, name: formatLanguage(language) })),
        ]}
        chosen={chosen ?? ''}
        onChoose={(language) => onChoose(language || null)}
      />
      <details class="more">
        <summary>Add a language, or work with translators</summary>
        <AddLanguage editor={editor} onChoose={onChoose} />
        <Files editor={editor} language={chosen ?? others[0]!} />
        {chosen !== null && (
          <Button
            look="quiet"
            onClick={() => {
              editor.change((before) => removeLanguage(before, chosen));
              onChoose(null);
            }}
          >
            Remove {languageName(chosen)}
          </Button>
        )}
      </details>
    </section>
  );
};
